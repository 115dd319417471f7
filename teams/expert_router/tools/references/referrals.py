"""Refer to a human: emergencies, and decisions on the user's own case."""

import re
from functools import cache
from pathlib import Path

import yaml

from nodes.limits.patterns import Pattern

from .collection import Field

_FILE = Path(__file__).with_name("referrals.yaml")

Rule = tuple[str, tuple[tuple[Pattern, ...], ...]]
"""What is said, and the combinations of patterns of which one must be found."""


def find_referral(field: Field, query: str) -> str:
    """Return whom a query is for instead; empty if the references may answer it.

    Emergencies come first, in every field. The worker's instructions say the same to a model; this
    check also holds where the model does not.
    """
    for message, combinations in (*_load_rules("everywhere"), *_load_rules(field)):
        if any(all(each.search(query) for each in patterns) for patterns in combinations):
            return message
    return ""


@cache
def _load_rules(section: str) -> tuple[Rule, ...]:
    held = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    words = held["words"]
    return tuple(
        (
            rule["says"],
            tuple(
                tuple(Pattern(words.get(part, part), re.IGNORECASE) for part in line.split(" & "))
                for line in rule["when"]
            ),
        )
        for rule in held.get(section, ())
    )
