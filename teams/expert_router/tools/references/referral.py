"""Refer to a human: emergencies, and decisions on the user's own case."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from nodes.limits.patterns import Pattern

from .collection import Domain

MAX_CHARS = 8000

_FILE = Path(__file__).with_name("referrals.yaml")


@dataclass(frozen=True)
class _ReferralRule:
    message: str
    patterns: tuple[Pattern, ...]


def find_referral(domain: Domain, question: str) -> str:
    """Return whom a question is for instead; empty if the references may answer it.

    An emergency is reported in every domain, and before anything else.
    """
    plain = " ".join(question[:MAX_CHARS].split())
    for rule in (*_load_rules()["everywhere"], *_load_rules().get(domain, ())):
        if any(pattern.search(plain) for pattern in rule.patterns):
            return rule.message
    return ""


@cache
def _load_rules() -> dict[str, tuple[_ReferralRule, ...]]:
    held = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return {name: tuple(map(_parse_rule, rules)) for name, rules in held.items()}


def _parse_rule(held: dict[str, list[str]]) -> _ReferralRule:
    patterns = tuple(Pattern(text, re.IGNORECASE) for text in held["when"])
    return _ReferralRule(str(held["says"]), patterns)
