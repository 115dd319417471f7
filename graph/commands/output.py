"""What commands print, or write to a file: prose, Markdown, listings, tables, JSON, reports."""

import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from graph.display.stderr_console import print_to_stderr
from graph.display.streams import is_terminal, print_to_stdout, write_to_file
from graph.display.tables import AnswerMarkdown, FittedTable
from graph.display.text import make_printable, name_command, wrap_lines
from graph.pages.report import format_report, write_report
from graph.runs.trace import TraceUnreadable
from nodes.errors import FileUnreadable, OutputFailed
from nodes.errors.redaction import redact_text
from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.text.finite_json import format_finite_json
from nodes.text.markdown import escape_active_markdown

MAX_JSON_BYTES: Final = 4_000_000
"""Of a plan or a certificate that is read."""
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
    """Print prose: wrapped on a terminal alone; `supervise` in advice as it was called."""
    shown = name_command(make_printable(text), sys.argv[0])
    print_to_stdout(wrap_lines(shown, _get_terminal_width()) if is_terminal(sys.stdout) else shown)


def print_markdown(text: str, *, indent: int = 0) -> None:
    """Print Markdown: rendered on a terminal, as text elsewhere; it loads no pictures.

    Args:
        indent: columns left free, on a terminal.
    """
    named = name_command(make_printable(text), sys.argv[0], is_answer=True)
    shown = escape_active_markdown(named)
    if is_terminal(sys.stdout):
        rendered = AnswerMarkdown(shown, hyperlinks=False)
        Console(emoji=False).print(Padding(rendered, (0, 0, 0, indent)))
    else:
        print_to_stdout(shown)


def print_json(value: Any) -> None:
    """Print one JSON object; `Any` is every value that `json` can encode."""
    text = format_json(value)
    print_to_stdout(name_command(text, sys.argv[0], is_answer=True, encode=_escape))


def format_json(value: Any) -> str:
    """Return JSON in which control and invisible characters are escaped; the data is equal."""
    text = format_finite_json(value, ensure_ascii=False, indent=2)
    return _INVISIBLE.sub(lambda found: _escape(found.group()), text)


def _escape(text: str) -> str:
    return json.dumps(text)[1:-1]


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
        gaps = (width - cell_len(cell) for cell, width in zip(cells, widths, strict=True))
        padded = "  ".join(cell + " " * gap for cell, gap in zip(cells, gaps, strict=True))
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


def _get_terminal_width() -> int:
    return Console().width


def _align_right(column: tuple[str, ...]) -> tuple[str, ...]:
    width = max(map(len, column)) if _is_numeric(column) else 0
    return tuple(cell.rjust(width) for cell in column)


def _is_numeric(column: tuple[str, ...]) -> bool:
    """Return whether a column holds only figures, below its heading if it has one."""
    return all(_NUMBER.fullmatch(cell) for cell in column[1:] or column)


def write_json(value: Any, path: Path) -> None:
    """Write a JSON file; as `write_file`."""
    write_file(f"{format_json(value)}\n", path)


def write_file(text: str, path: Path) -> None:
    """Write a text file, without secrets.

    Raises:
        OutputFailed: it cannot be written.
    """
    write_to_file(redact_text(text), path)


def read_json_file(path: Path, what: str) -> dict[str, Any]:
    """Return the JSON object of a file of limited size.

    Raises:
        FileUnreadable: it cannot be read, or is none.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_JSON_BYTES + 1)
        if len(raw) > MAX_JSON_BYTES:
            raise ValueError(f"it has more than {MAX_JSON_BYTES:,} bytes")
        value = parse_json(raw)
        if not isinstance(value, dict):
            raise ValueError("it is no JSON object")
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise FileUnreadable(f"cannot read the {what} {path}", cause=cause) from None
    return value


def announce_file(what: str, path: Path) -> None:
    """Print on stderr where something was written."""
    print_to_stderr(f"the {what} is in {path}", style="dim")


def save_json(value: Any, path: Path, what: str = "", *, quiet: bool = False) -> None:
    """Write a JSON file beside a command's own output; a failure prints a warning.

    Args:
        what: how the file is announced; empty where it is not.
    """
    try:
        write_json(value, path)
        if what and not quiet:
            announce_file(what, path)
    except OutputFailed as error:
        print_to_stderr(f"warning: {error}", style="yellow")


def print_report(trace: Mapping[str, Any], out: Path | None) -> int:
    """Write the report of a run to a file, or to stdout without one."""
    if (trace.get("run") or {}).get("status") == "running":
        print_to_stderr("the run has not ended: the page is of what it has done", style="yellow")
    if out is None:
        print_to_stdout(format_report(trace))
    else:
        write_report(trace, out)
        announce_file("report", out)
    return 0


def save_report(trace: Mapping[str, Any], path: Path, *, quiet: bool) -> None:
    """Write the report beside a command's own output; a failure prints a warning."""
    try:
        write_report(trace, path)
        if not quiet:
            announce_file("report", path)
    except (OutputFailed, TraceUnreadable) as error:
        print_to_stderr(f"warning: {error}", style="yellow")
