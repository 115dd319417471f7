"""Parse numbers and amounts as people write them in tables, only if they are unambiguous."""

import calendar
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from nodes.limits.patterns import Pattern
from nodes.text.csv_table import MISSING

DecimalMark = Literal["point", "comma", "unknown"]
"""The decimal mark of a table."""

MAX_DIGITS = 18
MIN_PLAIN, MAX_PLAIN = 1e-18, 1e18
"""Numbers further from 1 are written with an exponent."""

FORMS: Final[Mapping[str, str]] = {
    "whole": r"[-+]?(?:0|[1-9]\d{0,17})",
    "code": r"[-+]?0\d{1,17}",
    "point_group": r"[-+]?[1-9]\d{0,2}\.\d{3}",
    "comma_group": r"[-+]?[1-9]\d{0,2},\d{3}",
    "point": r"[-+]?\d{0,18}\.\d{1,18}",
    "point_groups": r"[-+]?\d{1,3}(?:(?:,\d{3}){1,6}\.\d{1,18}|(?:,\d{3}){2,6})",
    "comma": r"[-+]?(?:\d{1,18},\d{1,18}|\d{1,3}(?:(?:\.\d{3}){1,6},\d{1,18}|(?:\.\d{3}){2,6}))",
    "missing": MISSING,
}
"""Forms of numbers, of which the first that matches counts, as regular expressions that SQL engines
have too. A group may be a decimal or thousands; codes, such as 0043, are no numbers in tables; what
is `missing` is a word for none."""
_FORMS: Final = Pattern("|".join(f"(?P<{form}>{pattern})" for form, pattern in FORMS.items()))
_OPEN_FORMS: Final = ("whole", "point_group", "comma_group")
_POINT_FORMS: Final = (*_OPEN_FORMS, "point", "point_groups")
_COMMA_FORMS: Final = (*_OPEN_FORMS, "comma")
_STRIPPED_SIGNS = " \t\u00a0\u202f€$£'"


@dataclass(frozen=True)
class NumberColumn:
    """How the numbers of a column are written."""

    mark: DecimalMark = "point"
    """The decimal mark; point if there is none."""
    is_plain: bool = True
    """They have neither decimal commas nor marks between thousands."""
    is_assumed: bool = False
    """No number of the table shows which mark it is."""
    has_missing: bool = False
    """Some of its cells hold a word for no number."""

    def write_plainly(self, number: str) -> str:
        """Return a cell with a decimal point and without other marks; empty if it is no number."""
        if self.has_missing and find_form(number) == "missing":
            return ""
        return number if self.is_plain else _write_plainly(number, self.mark)


def count_forms(cells: Iterable[str]) -> Counter[str]:
    """Return how many cells are of each form of `FORMS`; stops at an `other` that is not empty."""
    counts = Counter[str]()
    for cell in filter(None, cells):
        form = find_form(cell)
        counts[form] += 1
        if form in ("other", "code"):
            break
    return counts


def read_number_columns(
    columns: Sequence[Mapping[str, int]], delimiter: str
) -> list[NumberColumn | None]:
    """Return how the numbers of each column are written; None for a column of anything else.

    A column that may be read in two ways has the decimal mark of the table's other columns. If they
    leave it open as well, semicolons between cells mean decimal commas, as spreadsheets write them.

    Args:
        columns: the counts of each column, as `count_forms` returns them.
        delimiter: between cells.
    """
    counted = [Counter(counts) for counts in columns]
    marks = [_read_mark(counts) for counts in counted]
    shown = {mark for mark in marks if mark in ("point", "comma")}
    by_delimiter: DecimalMark = "comma" if delimiter == ";" else "point"
    known = shown.pop() if len(shown) == 1 else None
    return [
        mark and _describe_column(mark, counts, known, by_delimiter)
        for mark, counts in zip(marks, counted, strict=True)
    ]


def _read_mark(counts: Counter[str]) -> DecimalMark | None:
    """Return the only decimal mark that a column can have; None if it is no column of numbers."""
    found = {form for form, count in counts.items() if count and form != "missing"}
    if not found:
        return None
    if found <= {*_OPEN_FORMS}:
        return "unknown"
    return "point" if found <= {*_POINT_FORMS} else "comma" if found <= {*_COMMA_FORMS} else None


def _describe_column(
    mark: DecimalMark, counts: Counter[str], known: DecimalMark | None, by_delimiter: DecimalMark
) -> NumberColumn:
    found = {form for form, count in counts.items() if count and form != "missing"}
    has_missing = bool(counts["missing"])
    if found == {"whole"}:
        return NumberColumn(has_missing=has_missing)
    chosen = mark if mark != "unknown" else known or by_delimiter
    is_plain = chosen == "point" and found <= {"whole", "point", "point_group"}
    is_open = mark == "unknown" and known is None
    return NumberColumn(chosen, is_plain, is_assumed=is_open, has_missing=has_missing)


def detect_decimal_mark(cells: Iterable[str]) -> DecimalMark:
    """Return the decimal mark of a table from all its cells; unknown if none or both occur."""
    forms = {find_form(cell.strip(_STRIPPED_SIGNS)) for cell in cells}
    point, comma = bool(forms & {"point", "point_groups"}), "comma" in forms
    return "unknown" if point == comma else "point" if point else "comma"


def parse_number(text: str, mark: DecimalMark = "unknown") -> Decimal | None:
    """Parse a number; None if it is none or ambiguous: `1,234` without a known mark."""
    bare = text.strip(_STRIPPED_SIGNS).replace("\u2212", "-")
    if sum(character.isdigit() for character in bare) > MAX_DIGITS or not bare.isascii():
        return None
    form = find_form(bare)
    if mark == "unknown" and form == "comma_group":
        return None
    if form not in ("code", *(_COMMA_FORMS if mark == "comma" else _POINT_FORMS)):
        return None
    return Decimal(_write_plainly(bare, mark))


def write_cell(value: object) -> str:
    """Return a value as text, as tables have it: 0.00001, not 1e-05, and yes, not True."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    is_plain = isinstance(value, float) and MIN_PLAIN < abs(value) < MAX_PLAIN
    return f"{Decimal(str(value)):f}" if is_plain else str(value)


def write_flags(rows: Iterable[Iterable[object]]) -> list[list[object]]:
    """Return rows with yes and no for True and False; other values as they are."""
    return [[write_cell(each) if isinstance(each, bool) else each for each in row] for row in rows]


def find_form(cell: str) -> str:
    """Return the form of `FORMS` that a cell has, or `other`."""
    match = _FORMS.fullmatch(cell)
    return (match and match.lastgroup) or "other"


def _write_plainly(number: str, mark: DecimalMark) -> str:
    if mark == "comma":
        return number.replace(".", "").replace(",", ".")
    return number.replace(",", "")


DECIDING_CELLS: Final = 40
"""After which a column that holds few amounts is text."""
MAX_UNITS: Final = 4
"""A column of more is text, such as dates: 12 May."""
_GROUPED: Final = Pattern(r"[-+]?\d{1,3}(?:[ '\u2019\u00a0\u202f]\d{3}){1,6}(?:[.,]\d{1,18})?")
_GROUP_MARKS: Final = dict.fromkeys(map(ord, " '\u2019\u00a0\u202f"))
_CURRENCY: Final = (
    "(?:US|A|C)?[$€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK|BRL|ZAR"
)
_AMOUNT: Final = Pattern(
    rf"(?P<open>\()?(?P<sign>[-+\u2212]?) ?(?P<before>{_CURRENCY})?\s?"
    r"(?P<number>[-+\u2212]?[\d.,][\d., '\u2019\u00a0\u202f]{0,40}+)"
    rf"(?P<after>[%‰]|{_CURRENCY}|[gtlmhsdkKMBT]|[^\W\d_]{{2,12}}(?:/[^\W\d_]{{1,8}})?)?(?(open)\))"
)
_NO_UNITS: Final = frozenset(
    {"st", "nd", "rd", "th", "am", "pm"}
    | {name.lower() for name in (*calendar.month_name, *calendar.month_abbr) if name}
)
_MONEY: Final = Pattern(_CURRENCY)
_DIGIT: Final = Pattern(r"\d")


@dataclass(frozen=True)
class AmountColumn:
    """The numbers of a column whose cells are mostly amounts of one unit."""

    numbers: tuple[str, ...]
    """Of each cell, without its unit; empty where it holds none of that unit."""
    unit: str = ""
    bare: int = 0
    """Numbers without a sign of currency beside numbers with one; they count."""
    units: tuple[tuple[str, int], ...] = ()
    """If there are several, each with its cells: no number counts then."""


def read_amounts(cells: Sequence[str]) -> AmountColumn | None:
    """Return the amounts of a column; None if it is no column of amounts."""
    found, seen, good, coded = list[tuple[str, str] | None](), 0, 0, 0
    for cell in cells:
        amount = None
        if cell and find_form(cell) != "missing":
            amount = _split_amount(cell)
            seen, good = seen + 1, good + bool(amount)
            coded += amount is None and _DIGIT.search(cell) is not None
            if find_form(cell) == "code" or (seen == DECIDING_CELLS and 2 * good <= seen):
                return None
        found.append(amount)
    if 2 * good <= seen or 5 * coded > seen:  # A12 beside 12 is a code
        return None
    counts = Counter(amount[1] for amount in found if amount)
    units = {unit for unit in counts if unit}
    unit, most = counts.most_common(1)[0]
    is_money = len(units) == 1 and all(map(_MONEY.fullmatch, units))
    if len(units) > MAX_UNITS:
        return None
    if len(units) > 1 or (2 * most <= seen and not is_money):
        return AmountColumn((), units=tuple(counts.most_common()))
    kept = set(counts) if is_money else {unit}
    numbers = tuple(amount[0] if amount and amount[1] in kept else "" for amount in found)
    return AmountColumn(numbers, units.pop() if is_money else unit, bare=counts[""] * is_money)


def _split_amount(cell: str) -> tuple[str, str] | None:
    """Return a cell's number and its unit; None if it is no amount."""
    if find_form(cell) not in ("other", "missing", "code"):
        return cell, ""
    match = _AMOUNT.fullmatch(cell)
    if not match or (match["before"] and match["after"]):
        return None
    number = match["number"].strip().replace("\u2212", "-")
    if _GROUPED.fullmatch(number):
        number = number.translate(_GROUP_MARKS)
    signs = match["sign"].replace("\u2212", "-") + "-" * bool(match["open"])
    unit = match["before"] or match["after"] or ""
    is_signed_twice = len(signs) > 1 or (signs and number[0] in "-+")
    if is_signed_twice or unit.lower() in _NO_UNITS or find_form(number) in ("other", "code"):
        return None
    return signs + number, unit
