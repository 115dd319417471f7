"""Parse numbers as people write them in tables, only if they are unambiguous."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Literal

from nodes.limits.patterns import Pattern

DecimalMark = Literal["point", "comma", "unknown"]
"""The decimal mark of a table."""

MAX_DIGITS = 18

_PLAIN = Pattern(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)")
_POINT = Pattern(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_COMMA = Pattern(r"[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?")
_AMBIGUOUS = Pattern(r"[-+]?\d{1,3},\d{3}")
_SHOWS_POINT = Pattern(r"[-+]?(?:\d{1,18}\.(?:\d{1,2}|\d{4,})|\d{1,3}(?:,\d{3}){1,6}\.\d+)")
_SHOWS_COMMA = Pattern(r"[-+]?(?:\d{1,18},(?:\d{1,2}|\d{4,})|\d{1,3}(?:\.\d{3}){1,6},\d+)")
_STRIPPED_SIGNS = " \t\u00a0\u202f€$£'"


def detect_decimal_mark(cells: Iterable[str]) -> DecimalMark:
    """Return the decimal mark of a table from all its cells; unknown if none or both occur."""
    bare = [cell.strip(_STRIPPED_SIGNS) for cell in cells]
    point = any(_SHOWS_POINT.fullmatch(cell) for cell in bare)
    comma = any(_SHOWS_COMMA.fullmatch(cell) for cell in bare)
    return "unknown" if point == comma else "point" if point else "comma"


def parse_number(text: str, mark: DecimalMark = "unknown") -> Decimal | None:
    """Parse a number; None if it is none or ambiguous: `1,234` without a known mark."""
    bare = text.strip(_STRIPPED_SIGNS).replace("\u2212", "-")
    if sum(character.isdigit() for character in bare) > MAX_DIGITS or not bare.isascii():
        return None
    if mark == "comma":
        if not _COMMA.fullmatch(bare):
            return None
        return Decimal(bare.replace(".", "").replace(",", "."))
    if _PLAIN.fullmatch(bare):
        return Decimal(bare)
    if not _POINT.fullmatch(bare) or (mark == "unknown" and _AMBIGUOUS.fullmatch(bare)):
        return None
    return Decimal(bare.replace(",", ""))
