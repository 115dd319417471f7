"""Finds the columns and cells of tables that a task names, for arguments on tables."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.models.embedded.column_matching import (
    MIN_PREFIX_CHARS,
    SEPARATORS,
    ColumnMatch,
    find_missing_measure,
    find_named,
    match_columns,
    split_name,
)
from nodes.models.embedded.prompt_reading import ReceivedHandoff
from nodes.models.embedded.text_similarity import extract_words
from nodes.text.csv_table import CsvUnreadable, is_table_name
from nodes.text.periods import SORTABLE_PERIOD
from nodes.text.whole_table import read_whole_table

_DECIMAL: Final = Pattern(r"[-+]?\d{1,15}[.,]\d{1,15}")
_PER: Final = Pattern(r"\bper (\w+)")
_YEAR: Final = Pattern(r"\b(?:1[89]|20)\d\d\b")
_TIME_NAMES: Final = frozenset(("year", "quarter", "month", "week", "day", "date", "period"))
_NAME: Final = Pattern(r"(?<=[\w,;] )[A-Z][\w\-]*(?: [A-Z][\w\-]*)*|[\"“]([^\"”]{2,60})[\"”]")
MAX_ROWS: Final = 2000
MAX_MEASURES: Final = 3
MAX_CELLS: Final = 20
MAX_CELL_WORDS: Final = 4
"""Of a cell that is a name."""
LARGEST_PERIOD: Final = 366


@dataclass(frozen=True)
class KnownTable:
    """A table as the model has seen it."""

    numbers: tuple[str, ...]
    labels: tuple[str, ...]
    times: tuple[str, ...]
    cells: frozenset[str] = frozenset()
    name: str = ""
    """Of the columns of labels, lower case."""


def list_named_tables(brief: ReceivedHandoff) -> list[str]:
    """Return the tables whose names are in the task, the longest name first."""
    listed = [each.name for call in brief.calls for each in _read_listing(call.data.get("tables"))]
    files = [name for name in brief.artifacts if is_table_name(name)]
    asked = set(extract_words(brief.subject))
    words = {
        name: set(split_name(name.rsplit("/", 1)[-1].partition(".")[0])) for name in files or listed
    }
    named = [name for name, parts in words.items() if parts and parts <= asked]
    return sorted(named, key=lambda name: -len(words[name]))


def list_number_columns(brief: ReceivedHandoff) -> list[str]:
    """Return the columns of numbers that the task names."""
    return [match.column for match in match_number_columns(brief)]


def match_number_columns(brief: ReceivedHandoff) -> list[ColumnMatch]:
    """Return the columns of numbers that the task means, and the words each was taken for.

    None if it names only what to divide by: takings per visitor are not visitors.
    """
    numbers, text, other = _list_names_of_columns(brief)
    matches = match_columns(numbers, text, other)
    undivided = _PER.sub(" ", text)
    if undivided != text and not match_columns(numbers, undivided, other):
        return []
    return matches[:MAX_MEASURES]


def name_missing_measure(brief: ReceivedHandoff) -> str:
    """Return the task's words for what is measured if no table has it; else empty."""
    if not list_tables(brief) or match_number_columns(brief):
        return ""
    numbers, text, other = _list_names_of_columns(brief)
    return find_missing_measure(numbers, _PER.sub(" ", text), other)


def _list_names_of_columns(brief: ReceivedHandoff) -> tuple[list[str], str, list[str]]:
    """Return the columns of numbers, the task's subject, and the names of all else in tables.

    A longer cell is text, whose words name nothing.
    """
    tables = list_tables(brief)
    numbers = [name for each in tables for name in each.numbers]
    cells = [cell for each in tables for cell in each.cells if len(cell.split()) <= MAX_CELL_WORDS]
    other = [*cells, *(name for each in tables for name in (*each.labels, *each.times))]
    return numbers, brief.subject, other


def list_per_columns(brief: ReceivedHandoff) -> list[str]:
    """Return the columns of numbers that the task names after "per"."""
    numbers, text, other = _list_names_of_columns(brief)
    named = match_columns(numbers, " ".join(_PER.findall(text)), other)
    return [match.column for match in named][:MAX_MEASURES]


def list_label_columns(brief: ReceivedHandoff) -> list[str]:
    """Return the columns of names that the task names."""
    labels = [name for each in list_tables(brief) for name in each.labels]
    return find_named([name for name in labels if not name.lower().endswith("id")], brief.subject)


def list_time_columns(brief: ReceivedHandoff) -> list[str]:
    """Return the columns of periods that the task names."""
    return find_named([name for each in list_tables(brief) for name in each.times], brief.subject)


def list_named_columns(brief: ReceivedHandoff) -> list[str]:
    """Return the columns of any kind that the task names."""
    tables = list_tables(brief)
    names = [name for each in tables for name in (*each.numbers, *each.labels, *each.times)]
    return find_named(names, brief.subject)


def list_named_cells(brief: ReceivedHandoff) -> list[str]:
    """Return the cells and years in the task; where no cell is known, the names in it."""
    tables = list_tables(brief)
    text = f" {' '.join(SEPARATORS.split(brief.subject))} ".lower()
    cells = {cell for each in tables for cell in each.cells if _is_in(cell, text)}
    if tables and not any(each.cells for each in tables):
        cells = {quoted or name for name, quoted in _list_names(brief.subject)}
    longest = [
        cell for cell in cells if not any(cell != other and cell in other for other in cells)
    ]
    years = _YEAR.findall(brief.subject) if any(each.times for each in tables) else []
    return [*sorted(longest), *years][:MAX_CELLS]


def list_tables(brief: ReceivedHandoff) -> list[KnownTable]:
    """Return the tables among the files, and those that a tool has listed."""
    read = [_read_table(text) for name, text in brief.artifacts.items() if is_table_name(name)]
    listed = [each for call in brief.calls for each in _read_listing(call.data.get("tables"))]
    return [*filter(None, read)] or listed


def _read_listing(tables: object) -> Iterator[KnownTable]:
    for table in tables if isinstance(tables, list) else ():
        if isinstance(table, dict):
            numbers, times = (tuple(map(str, table.get(key, ()))) for key in ("numbers", "times"))
            columns = map(str, table.get("columns", ()))
            yield KnownTable(
                numbers,
                tuple(name for name in columns if name not in (*numbers, *times)),
                times,
                name=str(table.get("table", "")),
            )


def _read_table(text: str) -> KnownTable | None:
    try:
        table = read_whole_table(text)
    except CsvUnreadable:
        return None  # the tool refuses it, with the reason
    rows = table.rows[:MAX_ROWS]
    columns = {
        name: [row[index] for row in rows if row[index]] for index, name in enumerate(table.columns)
    }
    is_number = dict(zip(table.columns, table.numbers, strict=True))
    times = tuple(name for name, cells in columns.items() if _is_time(name, cells))
    numbers = tuple(
        name
        for name, cells in columns.items()
        if name not in times and is_number[name] and not name.lower().endswith("id")
    )
    labels = tuple(name for name in columns if name not in (*times, *numbers))
    cells = frozenset(cell.lower() for name in labels for cell in columns[name])
    return KnownTable(numbers, labels, times, cells)


def _is_time(name: str, cells: Iterable[str]) -> bool:
    found = list(cells)
    if found and all(map(_YEAR.fullmatch, found)):
        return True
    if not all(map(SORTABLE_PERIOD.fullmatch, found)):
        return False
    amounts = [
        cell
        for cell in found
        if _DECIMAL.fullmatch(cell) or (cell.isdigit() and int(cell) > LARGEST_PERIOD)
    ]
    return bool(_TIME_NAMES & set(split_name(name))) and not amounts


def _is_in(cell: str, text: str) -> bool:
    plain = " ".join(SEPARATORS.split(cell)).strip().lower()
    return len(plain) >= MIN_PREFIX_CHARS and f" {plain} " in text


def _list_names(text: str) -> list[tuple[str, str]]:
    return [(found.group(), found.group(1) or "") for found in _NAME.finditer(text)]
