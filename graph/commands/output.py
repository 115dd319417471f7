"""What commands print, or write to a file: prose, Markdown, listings, tables, JSON, reports."""

import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markdown import Markdown, MarkdownElement, TableElement
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graph.display.stderr_console import print_to_stderr
from graph.display.streams import is_terminal, print_to_stdout
from graph.display.text import make_printable, wrap_lines
from graph.pages.report import format_report, write_report
from graph.runs.trace import TraceUnreadable
from nodes.errors import OutputFailed
from nodes.errors.redaction import redact_text
from nodes.limits.patterns import Pattern
from nodes.text.finite_json import format_finite_json
from nodes.text.markdown import escape_active_markdown

MIN_LAST_COLUMN: Final = 30
"""Below this width the last column of a listing gets its own line."""
_NUMBER: Final = Pattern(r"[-+]?[\d,.e+-]*")
_INVISIBLE: Final = Pattern(
    "[\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u180b-\u180f\u2028-\u202f"
    "\u200b-\u200f\u205f-\u206f\ud800-\uf8ff\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001345f\U0001bca0-\U0001bcaf\U0001d173-\U0001d17a\U000e0000-\U0010ffff]+"
)
"""Control, format and private-use characters, lone surrogates, and variation selectors."""


def print_text(text: str) -> None:
    """Print prose: wrapped between words on a terminal, unchanged elsewhere."""
    shown = make_printable(text)
    print_to_stdout(wrap_lines(shown, _get_terminal_width()) if is_terminal(sys.stdout) else shown)


def print_markdown(text: str, *, indent: int = 0) -> None:
    """Print Markdown: rendered on a terminal, as text elsewhere; it loads no pictures.

    Args:
        indent: columns left free, on a terminal.
    """
    shown = escape_active_markdown(make_printable(text))
    if is_terminal(sys.stdout):
        rendered = AnswerMarkdown(shown, hyperlinks=False)
        Console(emoji=False).print(Padding(rendered, (0, 0, 0, indent)))
    else:
        print_to_stdout(shown)


def print_json(value: Any) -> None:
    """Print one JSON object; `Any` is every value that `json` can encode."""
    print_to_stdout(format_json(value))


def format_json(value: Any) -> str:
    """Return JSON in which control and invisible characters are escaped; the data is equal."""
    return _INVISIBLE.sub(_escape_match, format_finite_json(value, ensure_ascii=False, indent=2))


def _escape_match(found: re.Match[str]) -> str:
    return json.dumps(found.group())[1:-1]


def print_listing(rows: Sequence[Sequence[str]], headings: Sequence[str]) -> None:
    """Print rows whose last column is prose: as aligned text, or fitted to a terminal.

    A last column that does not fit is printed below the others; if these do not fit either, each
    cell gets its own line.

    Args:
        headings: of the columns; an empty one is not shown.
    """
    shown = [[make_printable(cell) for cell in row] for row in rows]
    lines = [list(headings), *shown] if all(headings) else shown
    if not is_terminal(sys.stdout):
        print_columns([tuple(line) for line in lines])
        return
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)][:-1]
    left, room = sum(widths) + 2 * len(widths), _get_terminal_width()
    for line in lines if left <= room else shown:
        *cells, last = line
        padded = "  ".join(map(_pad_cell, cells, widths))
        longest = max(map(cell_len, last.split()), default=0)
        if room - left >= max(MIN_LAST_COLUMN, longest):
            first, *others = wrap_lines(last, room - left).split("\n")
            print_to_stdout(
                "\n".join([f"{padded}  {first}", *(" " * left + other for other in others)])
            )
        elif left <= room:
            print_to_stdout(f"{padded.rstrip()}\n{wrap_lines(_indent_text(last), room)}")
        else:
            print_to_stdout(wrap_lines(_stack_cells(line, headings), room))


def print_columns(rows: list[tuple[str, ...]]) -> None:
    """Print rows as aligned text; further lines of the last cell are below its first."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    for row in rows:
        *cells, last = row
        left = "".join(f"{cell:{width}}  " for cell, width in zip(cells, widths, strict=False))
        first, *others = last.split("\n")
        print_to_stdout(
            "\n".join([f"{left}{first}".rstrip(), *(" " * len(left) + other for other in others)])
        )


def print_table(rows: list[tuple[str, ...]]) -> None:
    """Print rows with figures aligned right: fitted to a terminal, in full width elsewhere."""
    columns = list(zip(*rows, strict=True))
    if not is_terminal(sys.stdout):
        print_columns(list(zip(*map(_align_right, columns), strict=True)))
        return
    right = [index for index, column in enumerate(columns) if _is_numeric(column)]
    cells = [[Text(make_printable(cell)) for cell in row] for row in rows]
    Console(emoji=False).print(FittedTable([Text("")] * len(columns), cells, right=right))


def _stack_cells(cells: Sequence[str], headings: Sequence[str]) -> str:
    first, *others = zip(cells, headings, strict=True)
    labelled = (f"{name.lower()}: {cell}" if name else cell for cell, name in others)
    return "\n".join([first[0], *(_indent_text(cell) for cell in labelled if cell)])


def _indent_text(text: str) -> str:
    return textwrap.indent(text, "  ")


def _pad_cell(cell: str, width: int) -> str:
    return cell + " " * (width - cell_len(cell))


def _get_terminal_width() -> int:
    return Console().width


def _align_right(column: tuple[str, ...]) -> tuple[str, ...]:
    width = max(map(len, column)) if _is_numeric(column) else 0
    return tuple(cell.rjust(width) for cell in column)


def _is_numeric(column: tuple[str, ...]) -> bool:
    """Return whether a column holds only figures, below its heading if it has one."""
    return all(_NUMBER.fullmatch(cell) for cell in column[1:] or column)


def write_json(value: Any, path: Path) -> None:
    """Write a JSON file.

    Raises:
        OutputFailed: it cannot be written.
    """
    write_file(f"{format_json(value)}\n", path)


def write_file(text: str, path: Path) -> None:
    """Write a text file, without secrets.

    Raises:
        OutputFailed: it cannot be written.
    """
    try:
        path.write_text(redact_text(text), encoding="utf-8")
    except OSError as error:
        raise OutputFailed(
            f"cannot write {path}", cause=error.strerror or str(error), next="name another file"
        ) from error


def save_json(value: Any, path: Path) -> None:
    """Write a JSON file beside a command's own output; a failure prints a warning."""
    try:
        write_json(value, path)
    except OutputFailed as error:
        print_to_stderr(f"warning: {error}", style="yellow")


class _MarkdownTable(TableElement):
    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        heading = [] if self.header is None or self.header.row is None else self.header.row.cells
        rows = [] if self.body is None else self.body.rows
        cells = [[_drop_justification(cell.content) for cell in row.cells] for row in rows]
        names = [_drop_justification(cell.content) for cell in heading]
        for name in names:
            name.stylize("markdown.table.header")
        yield FittedTable(names, cells)


class AnswerMarkdown(Markdown):
    """Rich's Markdown; a table too wide for the terminal is printed cell by cell."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "table_open": _MarkdownTable,
    }


def _drop_justification(cell: Text) -> Text:
    """Return a copy of a cell without its own justification, so that its column's applies."""
    copied = cell.copy()
    copied.justify = None
    return copied


MAX_COLUMN_GAP = 3
"""Maximal gap between two columns of a table, in characters."""


class FittedTable:
    """Draws rows below a heading; if the columns do not fit, each cell gets its own line."""

    def __init__(
        self, heading: Sequence[Text], rows: Sequence[Sequence[Text]], *, right: Sequence[int] = ()
    ) -> None:
        self._heading, self._rows, self._right_columns = heading, rows, right

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        columns = list(zip(self._heading, *self._rows, strict=True))
        sizes = [_measure_column(column, console, options) for column in columns]
        widths = divide_width(sizes, options.max_width - MAX_COLUMN_GAP * len(columns))
        if widths is None:
            yield from self._stack_rows()
            return
        has_heading = any(cell.plain for cell in self._heading)
        table = Table(
            box=box.SIMPLE_HEAD if has_heading else None,
            show_header=has_heading,
            show_edge=False,
            pad_edge=False,
            collapse_padding=has_heading,
            style="markdown.table.border",
        )
        for index, (cell, width) in enumerate(zip(self._heading, widths, strict=True)):
            is_right = index in self._right_columns
            table.add_column(cell, width=width, justify="right" if is_right else "left")
        for row in self._rows:
            table.add_row(*row)
        yield table

    def _stack_rows(self) -> Iterator[RenderableType]:
        for row in self._rows:
            for index, (cell, name) in enumerate(zip(row, self._heading, strict=True)):
                label = Text.assemble(name, ": ") if name.plain else Text("")
                if cell.plain:
                    yield Text.assemble("  " if index else "• ", label, cell)


def divide_width(sizes: Sequence[Measurement], room: int) -> list[int] | None:
    """Return the widths of columns; None if their longest words do not fit side by side."""
    spare = room - sum(size.minimum for size in sizes)
    if spare < 0:
        return None
    wanted = sum(size.maximum - size.minimum for size in sizes)
    share = min(1.0, spare / wanted) if wanted else 0.0
    return [size.minimum + int(share * (size.maximum - size.minimum)) for size in sizes]


def _measure_column(
    column: Sequence[Text], console: Console, options: ConsoleOptions
) -> Measurement:
    unbounded = options.update_width(100_000)
    cells = [Measurement.get(console, unbounded, cell) for cell in column]
    return Measurement(max(each.minimum for each in cells), max(each.maximum for each in cells))


def print_report(trace: Mapping[str, Any], out: Path | None) -> int:
    """Write the report of a run to a file, or to stdout without one."""
    if (trace.get("run") or {}).get("status") == "running":
        print_to_stderr("the run has not ended: the page is of what it has done", style="yellow")
    if out is None:
        print_to_stdout(format_report(trace))
    else:
        write_report(trace, out)
    return 0


def save_report(trace: Mapping[str, Any], path: Path) -> None:
    """Write the report beside a command's own output; a failure prints a warning."""
    try:
        write_report(trace, path)
    except (OutputFailed, TraceUnreadable) as error:
        print_to_stderr(f"warning: {error}", style="yellow")
