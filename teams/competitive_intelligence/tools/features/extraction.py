"""Read a product's features from its page: lines and table rows of the form name, value."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nodes.limits.patterns import Pattern

MAX_NAME_CHARS: Final = 60
MAX_NAME_WORDS: Final = 6
MAX_VALUE_CHARS: Final = 160
CLAIM_SEPARATOR: Final = " \N{EM DASH} "
"""Separates a product and what is stated of it, in a claim."""

_HEADING: Final = Pattern(r"#{1,6}\s+(.+)")
_TABLE_RULE: Final = Pattern(r"\|?[\s:|-]+\|[\s:|-]*")
_FEATURE_LINE: Final = Pattern(
    r"^(?:[-*+]\s++)?\**+([^:|*]{2,60}?)\**+\s*+(?::|\N{EN DASH})\**+\s++(\S.*)"
)
_FEATURE_CLAIM: Final = Pattern(rf"(.+?){CLAIM_SEPARATOR}([^:]+): (.+)", re.DOTALL)
_NOT_FEATURES: Final = frozenset(("source", "sources", "note", "notes", "updated", "see", "http"))


@dataclass(frozen=True)
class Feature:
    """A feature of a product as its page states it."""

    product: str
    name: str
    value: str
    line: int
    """Line number, counted from 1."""
    quote: str

    @property
    def claim(self) -> str:
        """Return it as a claim, which `parse_claim` can parse again."""
        return f"{self.product}{CLAIM_SEPARATOR}{self.name}: {self.value}"


def extract_features(text: str, default_product: str) -> list[Feature]:
    """Return the features that a page states; of a name that occurs twice the first counts."""
    product, found = default_product, dict[str, Feature]()
    lines = text.splitlines()
    heading = next((m for line in lines if (m := _HEADING.fullmatch(line.strip()))), None)
    if heading:
        product = _strip_markup(heading[1])
    for number, (name, value, quote) in _find_pairs(lines):
        key = normalize_name(name)
        if key not in found and key.split(" ")[0] not in _NOT_FEATURES:
            found[key] = Feature(product, name, value, number, quote)
    return list(found.values())


def parse_claim(claim: str) -> tuple[str, str, str] | None:
    """Parse product, feature and value from a claim; None if it has another form."""
    found = _FEATURE_CLAIM.fullmatch(claim.strip())
    return (found[1].strip(), found[2].strip(), found[3].strip()) if found else None


def normalize_name(name: str) -> str:
    """Normalize a feature's name, so that case and punctuation make no difference."""
    return " ".join(Pattern(r"[\W_]+").sub(" ", name.casefold()).split())


def _find_pairs(lines: list[str]) -> Iterator[tuple[int, tuple[str, str, str]]]:
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        following = lines[number].strip() if number < len(lines) else ""
        if not text or _HEADING.match(text) or _TABLE_RULE.fullmatch(text):
            continue
        if text.startswith("|"):
            is_header = bool(_TABLE_RULE.fullmatch(following))
            cells = [_strip_markup(cell) for cell in text.strip("|").split("|")]
            pair = (cells[0], cells[1]) if len(cells) == 2 and not is_header else None
        else:
            matched = _FEATURE_LINE.fullmatch(text)
            pair = (_strip_markup(matched[1]), _strip_markup(matched[2])) if matched else None
        if pair and _is_feature(*pair):
            yield number, (pair[0], pair[1][:MAX_VALUE_CHARS], text)


def _is_feature(name: str, value: str) -> bool:
    short = len(name) <= MAX_NAME_CHARS and len(name.split()) <= MAX_NAME_WORDS
    return bool(name and value and short and name[0].isalnum())


def _strip_markup(text: str) -> str:
    return Pattern(r"[*_`]+").sub("", text).strip()
