"""The words that classify a request, from `request_wording.yaml`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from nodes.limits.patterns import Pattern
from nodes.text.terms import extract_terms

WORDING_FILE = Path(__file__).with_name("request_wording.yaml")


@dataclass(frozen=True)
class RequestWording:
    """Compiled patterns and words."""

    matters: Mapping[str, Pattern]
    severity: Mapping[str, Pattern]
    """The most severe first."""
    failure: Pattern
    vocabulary: frozenset[str]


@lru_cache(maxsize=1)
def load_wording() -> RequestWording:
    """Load the words once."""
    told = yaml.safe_load(WORDING_FILE.read_text(encoding="utf-8"))
    return RequestWording(
        matters={name: _join_patterns(each) for name, each in told["matters"].items()},
        severity={name: _join_patterns(each) for name, each in told["severity"].items()},
        failure=_join_patterns(told["failure"]),
        vocabulary=extract_terms(told["vocabulary"]),
    )


def _join_patterns(patterns: Iterable[str]) -> Pattern:
    return Pattern("|".join(f"(?:{each})" for each in patterns), re.IGNORECASE)
