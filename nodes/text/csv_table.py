"""Read CSV text: its delimiter, its column names, its rows, and what is unusual about them."""

import contextlib
import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count

TABLE_SUFFIXES: Final = (".csv", ".tsv")
_WORKBOOK_END: Final = Pattern(r"\.(?:xls[xmb]?|ods)(?:#|\Z)", re.IGNORECASE)
SAMPLE_RECORDS: Final = 50
MAX_NAMED_LINES: Final = 5
MAX_SHOWN_COLUMNS: Final = 8
_DELIMITERS: Final = ";\t|,"
_SEPARATOR_LINE: Final = Pattern(r"sep=([,;\t|])")
MISSING: Final = (
    r"(?i:n\.?/?a\.?|k\.? ?a\.?|null|none|nan|nil|tbd|unknown|missing|[-+]?inf(?:inity)?"
    "|[-\u2013\u2014]{1,3}|[?.]{1,3}"
    r"|#[a-z0-9/ ]{1,12}[!?]?|err:\d{3})"
)
"""A cell that says that there is no number, such as n/a and a spreadsheet's #DIV/0!; as a regular
expression that SQL engines have too."""
_MISSING: Final = Pattern(MISSING)
_NUMBER: Final = Pattern(r"[-+]?\d{1,18}(?:[.,]\d{1,18}){0,6}")
_PERIOD: Final = Pattern(r"(?:1[89]|20)\d\d")


class CsvUnreadable(ValueError):
    """The text is no table, or some of its rows do not fit.

    The message is to follow the name of the file, and names the lines.
    """


@dataclass(frozen=True)
class CsvRecord:
    """The cells of a row, as many as there are columns, and the line on which it ends."""

    line: int
    cells: tuple[str, ...]


@dataclass
class CsvReader:
    """A table whose column names are known and whose rows are read one by one."""

    delimiter: str
    columns: tuple[str, ...]
    """Unique, whatever their case; a column without a name is `column3`."""
    header: tuple[str, ...]
    """The column names as they are written, without empty ones at the end."""
    skipped_lines: int
    """Above the column names."""
    lines: Iterator[str]
    """Those that follow the column names."""
    first_line: int
    """Lines above them."""
    short_lines: list[int] = field(default_factory=list)
    """Of the rows read so far that have fewer cells than there are columns."""

    def read_rows(self) -> Iterator[CsvRecord]:
        """Yield the rows that are not empty; missing cells at a row's end are empty.

        Raises:
            CsvUnreadable: rows have more cells than there are columns, or a quote does not end.
        """
        width = len(self.columns)
        for line, cells in self._fit_rows():
            filled = [cell.strip() for cell in cells[:width]]
            yield CsvRecord(line, (*filled, *[""] * (width - len(filled))))

    def count_rows(self) -> int:
        """Return how many rows `read_rows` yields, sooner.

        Raises:
            CsvUnreadable: as `read_rows`.
        """
        return sum(1 for _ in self._fit_rows())

    def _fit_rows(self) -> Iterator[tuple[int, list[str]]]:
        width, long_rows = len(self.columns), list[tuple[int, int]]()
        for line, cells in _parse(self.lines, self.delimiter, self.first_line):
            if len(cells) > width and any(map(str.strip, cells[width:])):
                long_rows.append((line, len(cells)))
            elif not long_rows:
                if len(cells) < width:
                    self.short_lines.append(line)
                yield line, cells
        if long_rows:
            raise CsvUnreadable(_describe_long_rows(long_rows, width))

    def list_notes(self) -> list[str]:
        """Return what a user should know of the rows read so far, a sentence each."""
        notes = []
        if self.short_lines:
            lines = _join_lines(self.short_lines)
            notes.append(f"{lines} fewer cells than there are columns; the others were left empty")
        if any(_NUMBER.fullmatch(each) and not _PERIOD.fullmatch(each) for each in self.header):
            names = ", ".join(self.columns[:MAX_SHOWN_COLUMNS])
            notes.append(f"its first line was read as the names of the columns: {names}")
        return notes


def is_table_name(name: str) -> bool:
    """Return whether a material is a table by its name: `a.csv`, `a.xlsx`, `a.xlsx#Sheet`."""
    return name.lower().endswith(TABLE_SUFFIXES) or _WORKBOOK_END.search(name) is not None


def is_table_text(text: str) -> bool:
    """Return whether the first lines have as many cells as the first of them, which names them."""
    lines = text.lstrip("\ufeff").splitlines(keepends=True)[:SAMPLE_RECORDS]
    rates = [_rate_delimiter(lines, delimiter) for delimiter in _DELIMITERS]
    return len(lines) > 1 and max(rates, default=())[:1] == (1.0,)


def is_missing(cell: str) -> bool:
    """Return whether a cell holds a word for no number."""
    return _MISSING.fullmatch(cell) is not None


def split_sheet_name(name: str) -> tuple[str, str]:
    """Return the name of a material's file, and of the sheet of a workbook; else nothing."""
    found = _WORKBOOK_END.search(name)
    end = found.end() if found else len(name)
    return name[:end].removesuffix("#") if found else name, name[end:]


def is_comment(line: str) -> bool:
    """Return whether a line above the column names is a comment."""
    return line.startswith("#") and line[1:2] not in (*_DELIMITERS, "")


def open_csv(lines: Iterable[str]) -> CsvReader:
    """Return a table whose column names are read.

    Lines above the names that begin with `#` are comments, and `sep=;` names the delimiter.

    Args:
        lines: with their ends, as a file opened with `newline=""` yields them.

    Raises:
        CsvUnreadable: there are no column names.
    """
    rest, skipped, named = iter(lines), 0, ""
    for line in rest:
        text = line.lstrip("\ufeff").strip()
        separator = _SEPARATOR_LINE.fullmatch(line.lstrip("\ufeff").strip("\r\n"))
        if not text or separator or is_comment(text):
            skipped, named = skipped + 1, separator[1] if separator else named
            continue
        sample = [line.lstrip("\ufeff"), *islice(rest, SAMPLE_RECORDS)]
        delimiter = named or _detect_delimiter(sample)
        following = chain(sample, rest)
        counter = _LineCounter(following)
        header = [name.strip() for name in next(_parse(counter, delimiter, skipped), (0, []))[1]]
        while header and not header[-1]:
            header.pop()
        return CsvReader(
            delimiter,
            columns=_name_columns(header),
            header=tuple(header),
            skipped_lines=skipped,
            lines=following,
            first_line=skipped + counter.count,
        )
    raise CsvUnreadable("is empty; its first line must have the names of the columns")


class _LineCounter:
    """Iterates over lines, and counts those taken."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines, self.count = lines, 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.count += 1
            yield line


def _parse(lines: Iterable[str], delimiter: str, before: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, with the line on which each ends."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield before + reader.line_num, cells
    except csv.Error as error:
        raise CsvUnreadable(f"line {before + reader.line_num} cannot be read: {error}") from None


def _detect_delimiter(sample: Sequence[str]) -> str:
    """Return the one under which most rows have as many cells as the first, which has several."""
    rates = {delimiter: _rate_delimiter(sample, delimiter) for delimiter in _DELIMITERS}
    return max(_DELIMITERS, key=lambda each: rates[each]) if any(rates.values()) else ","


def _rate_delimiter(sample: Sequence[str], delimiter: str) -> tuple[float, int] | tuple[()]:
    """Return the share of such rows and how many cells they have; nothing for a single cell."""
    widths = list[int]()
    with contextlib.suppress(CsvUnreadable):  # the sample may end inside a quoted cell
        widths.extend(len(cells) for _, cells in _parse(sample, delimiter, 0))
    width, *others = widths or [0]
    return (others.count(width) / max(1, len(others)), width) if width > 1 else ()


def _name_columns(header: Sequence[str]) -> tuple[str, ...]:
    """Return a unique name for each column."""
    names, taken = list[str](), set[str]()
    for place, written in enumerate(header, start=1):
        name, number = written or f"column{place}", 1
        unique = name
        while unique.lower() in taken:
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique.lower())
        names.append(unique)
    return tuple(names)


def _describe_long_rows(rows: Sequence[tuple[int, int]], width: int) -> str:
    most = max(cells for _, cells in rows)
    up_to = "up to " if any(cells < most for _, cells in rows) else ""
    return (
        f"{_join_lines([line for line, _ in rows])} {up_to}{most} cells under "
        f"{format_count(width, 'column name')}; a delimiter inside a cell needs quotes around it"
    )


def _join_lines(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:MAX_NAMED_LINES]))
    more = len(lines) - MAX_NAMED_LINES
    if len(lines) == 1:
        return f"line {shown} has"
    return f"lines {shown}{f' and {more} more' if more > 0 else ''} have"
