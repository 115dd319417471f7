"""Proves a figure by the row and column that a statement names, or by a step over such cells."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.proof.passages import Passage, list_words, split_words
from nodes.proof.steps import JOINING, RATIO, name_step
from nodes.proof.texts import MAX_LABEL_WORDS, SourceText
from nodes.text.figures import Quantity, is_near, read_column, read_figures, write_digits

SEGMENT: Final = Pattern(
    r"[,;:]\s|\s(?:and|while|whereas|but|versus|vs|und|während|aber|sowie|gegenüber)\s|\s[\u2013\u2014]\s"
)
"""Between parts of a statement that may each name another row or column."""
MAX_ROWS: Final = 40
"""Rows over which steps are tried."""
_RISES: Final = Pattern(
    r"\b(?:rose|rises|risen|rising|grew|grown|grows|increased?s?|increasing|gained|climbed|higher|up"
    r"|stieg|gestiegen|wuchs|gewachsen|zugenommen)\b",
    re.IGNORECASE,
)
_SINKS: Final = Pattern(
    r"\b(?:fell|falls|fallen|falling|dropped|declined|decreased?s?|shrank|lost|lower|down|sank"
    r"|gesunken|fiel|gefallen|abgenommen|zurückgegangen)\b",
    re.IGNORECASE,
)
_MORE: Final = Pattern(
    r"\b(?:more|higher|larger|greater|bigger|mehr|höher|größer)\b.{0,60}?\b(?:than|als)\b",
    re.IGNORECASE,
)
_LESS: Final = Pattern(
    r"\b(?:less|fewer|lower|smaller|weniger|niedriger|kleiner)\b.{0,60}?\b(?:than|als)\b",
    re.IGNORECASE,
)


def select_rows(text: str, source: SourceText) -> list[Passage]:
    """Return the rows of a table that a statement names, by their labels and their periods.

    Of rows with a label that it names, those that also have a period that it names, if any do. A
    label is not named by words of a longer one: Virginia in West Virginia.
    """
    if not source.labels:
        return []
    named, dated = _find_labels(text, source)
    rows = {at for places in named for at in places}
    periods = {at for places in dated for at in places}
    chosen = (rows & periods) or rows or periods
    return [source.passages[at] for at in sorted(chosen)]


def _find_labels(text: str, source: SourceText) -> tuple[list[list[int]], list[list[int]]]:
    """Return the places of the rows with each label that a text names, and with each period."""
    words, named, dated = split_words(text.casefold()), list[list[int]](), list[list[int]]()
    at = 0
    while at < len(words):
        for size in range(min(MAX_LABEL_WORDS, len(words) - at), 0, -1):
            places = source.labels.get(tuple(words[at : at + size]))
            if places:
                (dated if words[at][:1].isdigit() else named).append(places)
                at += size - 1
                break
        at += 1
    return named, dated


def _choose(text: str, source: SourceText, among: Sequence[Passage]) -> list[Passage]:
    """Return those of some rows that a part of a statement names."""
    held = {id(row) for row in among}
    return [row for row in select_rows(text, source) if id(row) in held]


def explain_by_rows(
    quantity: Quantity, text: str, rows: Sequence[Passage], source: SourceText
) -> tuple[bool, str]:
    """Return whether the named cells have a quantity, or it follows from them; and the step."""
    segment = _cut_segment(text, quantity)
    near = _choose(segment, source, rows)
    chosen = near or rows
    columns = _choose_columns(segment, rows, source) or _choose_columns(text, rows, source)
    columns = columns or [name for name, _ in rows[0].cells if name not in source.label_columns]
    if quantity.text[:1] in "+-\u2212":
        return _explain_change(quantity, text, chosen, columns)
    cells = list(_read_cells(chosen[:MAX_ROWS], columns))[: MAX_ROWS * 4]
    if any(quantity.equals(cell) for cell in cells):
        return True, ""
    wider = list(_read_cells(rows[:MAX_ROWS], columns))[: MAX_ROWS * 4]
    if step := name_step(quantity, cells, text) or name_step(quantity, wider, text):
        return True, step
    if quantity.values and any(is_near(v, len(chosen), 0) for v in quantity.values):
        return len(chosen) > 1, "count"
    everything = [passage for passage in source.passages if passage.cells]
    for group in (rows, everything) if len(rows) > 1 or not near else (everything,):
        names_total = JOINING.search(text) or RATIO.search(text)
        if names_total and (step := _find_total(quantity, group, columns)):
            return True, step
    return False, ""


def _explain_change(
    quantity: Quantity, text: str, rows: Sequence[Passage], columns: Sequence[str]
) -> tuple[bool, str]:
    """Return whether cells have a signed quantity, or it is a change in the order of time."""
    if any(quantity.equals(cell) for cell in _read_cells(rows[:MAX_ROWS], columns)):
        return True, ""
    for earlier, later in _list_changes(rows, columns):
        change = later - earlier
        values = (change, 100 * change / abs(earlier)) if earlier else (change,)
        if any(
            is_near(mine, value, quantity.tolerance) for mine in quantity.values for value in values
        ):
            return True, "growth" if quantity.unit == "%" else "difference"
    return False, ""


def find_wrong_direction(text: str, rows: Sequence[Passage], source: SourceText) -> str:
    """Return the word of a statement that says the contrary of its cells; empty if none does."""
    columns = _choose_columns(text, rows, source)
    rises, sinks = _RISES.search(text), _SINKS.search(text)
    if (rises is None) != (sinks is None):
        word = (rises or sinks)[0]  # type: ignore[index]  # one of them is there
        changes = [pair for pair in _list_changes(rows, columns) if pair[0] != pair[1]]
        if changes and all((later > earlier) != bool(rises) for earlier, later in changes):
            return word
    more, less = _MORE.search(text), _LESS.search(text)
    if (more is None) == (less is None):
        return ""
    found = more or less
    assert found is not None, "one of them is there"
    first = _choose(text[: found.start()], source, rows)
    second = _choose(text[found.end() :], source, rows)
    if len(first) != 1 or len(second) != 1 or first == second or len(columns) != 1:
        return ""
    one, other = _read_first(first, columns), _read_first(second, columns)
    if not one or not other or one.value == other.value:
        return ""
    return "" if (one.value > other.value) == bool(more) else found[0]


def _list_changes(rows: Sequence[Passage], columns: Sequence[str]) -> Iterator[tuple[float, float]]:
    """Yield pairs of an earlier and a later value: of two rows, or of two columns of one row."""
    if len(rows) == 2:
        dated = sorted(rows, key=_read_period)
        if _read_period(dated[0]) < _read_period(dated[1]):
            for column in columns:
                one, other = (_read_first([row], [column]) for row in dated)
                if one and other:
                    yield one.value, other.value
    if len(rows) == 1:
        years = {name: read_figures(name).periods for name in columns}
        dated_columns = sorted(
            (periods[0].year, name)
            for name, periods in years.items()
            if periods and periods[0].year
        )
        for pair in combinations(dated_columns, 2):
            one, other = (_read_first(rows, [name]) for _, name in pair)
            if one and other:
                yield one.value, other.value


def _read_period(row: Passage) -> tuple[int, int, int]:
    cells = (
        cell for _, cell in row.cells if not cell.replace(".", "", 1).isdigit() or len(cell) == 4
    )
    periods = [period for cell in cells for period in read_figures(cell).periods]
    return max(((p.year, p.month or 3 * p.quarter, p.day) for p in periods), default=(0, 0, 0))


def _cut_segment(text: str, quantity: Quantity) -> str:
    """Return the part of a statement that a quantity is in."""
    written, start = write_digits(text), 0
    for match in SEGMENT.finditer(written):
        if match.start() > quantity.start:
            return written[start : match.start()]
        start = match.end()
    return written[start:]


def _choose_columns(text: str, rows: Sequence[Passage], source: SourceText) -> list[str]:
    """Return the columns of numbers that a statement names best; none where it names none."""
    names = [name for name, _ in rows[0].cells if name not in source.label_columns]
    said = {*list_words(write_digits(text))}
    scores = {name: len(said & {*list_words(name)}) for name in names}
    best = max(scores.values(), default=0)
    return [name for name, score in scores.items() if score == best > 0]


def _read_cells(rows: Sequence[Passage], columns: Sequence[str]) -> Iterator[Quantity]:
    for row in rows:
        for column, cell in row.cells:
            if column in columns:
                yield from (read_column(number, column) for number in read_numbers(cell))


def _read_first(rows: Sequence[Passage], columns: Sequence[str]) -> Quantity | None:
    return next(_read_cells(rows[:MAX_ROWS], columns), None)


def read_numbers(cell: str) -> list[Quantity]:
    """Return the numbers of a cell; one that looks like a year is a number here."""
    numbers = read_figures(cell).numbers
    if not numbers and cell.strip().isdigit():
        return [Quantity(cell, (float(cell),), tolerance=0.5)]
    return numbers


def _find_total(quantity: Quantity, rows: Sequence[Passage], columns: Sequence[str]) -> str:
    """Return the step by which a quantity is the sum, average or extreme of a column."""
    for column in columns:
        cells = list(_read_cells(rows, [column]))
        if len(cells) < 2:
            continue
        for step, values in (
            ("sum", [sum(each.values[at] for each in cells) for at in (0, -1)]),
            ("average", [sum(each.values[at] for each in cells) / len(cells) for at in (0, -1)]),
        ):
            if quantity.equals(replace(cells[0], values=tuple(values), tolerance=0.0)):
                return step
    return ""
