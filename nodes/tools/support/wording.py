"""The words that tell what a request is about, from `matters.yaml`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from nodes.limits.patterns import Pattern
from nodes.synthesis.terms import terms

FILE = Path(__file__).with_name("matters.yaml")


@dataclass(frozen=True)
class Wording:
    """Patterns and words, ready to be looked for."""

    matters: Mapping[str, Pattern]
    severity: Mapping[str, Pattern]
    """From the gravest on."""
    failure: Pattern
    vocabulary: frozenset[str]


@lru_cache(maxsize=1)
def wording() -> Wording:
    """Read the words once."""
    told = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return Wording(
        matters={name: _joined(each) for name, each in told["matters"].items()},
        severity={name: _joined(each) for name, each in told["severity"].items()},
        failure=_joined(told["failure"]),
        vocabulary=terms(told["vocabulary"]),
    )


def _joined(patterns: Iterable[str]) -> Pattern:
    return Pattern("|".join(f"(?:{each})" for each in patterns), re.IGNORECASE)
