"""Read a column of amounts as people write them, beside cells that hold none: `$1,200`, `n/a`."""

import calendar
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from extensions.tools.sql.numbers import find_form
from nodes.limits.patterns import Pattern

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
