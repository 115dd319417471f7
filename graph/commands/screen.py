"""What commands put on stdout: prose, Markdown, listings, tables as text, JSON."""

import json
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from graph.inert_markdown import inert
from graph.markdown import AnswerMarkdown
from graph.streams import is_terminal, put
from graph.tables import FittedTable
from graph.terminal import remark
from graph.text import folded, printable
from nodes.limits.patterns import Pattern
from nodes.redaction import redacted

MIN_LAST_COLUMN: Final = 30
"""Below it the last column of a listing goes onto a line of its own."""
_FIGURE: Final = Pattern(r"[-+]?[\d,.e+-]*")
_UNSEEN: Final = Pattern(
    "[\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u180b-\u180f\u2028-\u202f"
    "\u200b-\u200f\u205f-\u206f\ud800-\uf8ff\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001345f\U0001bca0-\U0001bcaf\U0001d173-\U0001d17a\U000e0000-\U0010ffff]+"
)
"""Controls, formats, private and halved characters, and variation selectors."""


def put_text(text: str) -> None:
    """Write prose: between words broken to fit a terminal, as it is elsewhere."""
    shown = printable(text)
    put(folded(shown, _width()) if is_terminal(sys.stdout) else shown)


def put_markdown(text: str) -> None:
    """Write Markdown: rendered on a terminal, as it is elsewhere; it loads no pictures."""
    shown = inert(printable(text))
    if is_terminal(sys.stdout):
        Console(emoji=False).print(AnswerMarkdown(shown, hyperlinks=False))
    else:
        put(shown)


def put_json(value: Any) -> None:
    """Write one JSON object; `Any` is whatever `json` can say."""
    put(json_text(value))


def json_text(value: Any) -> str:
    """Return JSON with escapes for what steers a terminal or is not seen: the data is equal."""
    return _UNSEEN.sub(_escape, json.dumps(value, ensure_ascii=False, indent=2))


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found.group())[1:-1]


def put_listing(rows: Sequence[Sequence[str]], headings: Sequence[str]) -> None:
    """Write rows of which the last column is prose: as aligned text, or as a terminal has room.

    What does not fit beside the other columns goes below them, and at last each cell onto a line.

    Args:
        headings: of the columns; one that is empty is not shown.
    """
    shown = [[printable(cell) for cell in row] for row in rows]
    lines = [list(headings), *shown] if all(headings) else shown
    if not is_terminal(sys.stdout):
        put_columns([tuple(line) for line in lines])
        return
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)][:-1]
    left, room = sum(widths) + 2 * len(widths), _width()
    for line in lines if left <= room else shown:
        *cells, last = line
        padded = "  ".join(map(_padded, cells, widths))
        longest = max(map(cell_len, last.split()), default=0)
        if room - left >= max(MIN_LAST_COLUMN, longest):
            first, *others = folded(last, room - left).split("\n")
            put("\n".join([f"{padded}  {first}", *(" " * left + other for other in others)]))
        elif left <= room:
            put(f"{padded.rstrip()}\n{folded(_indented(last), room)}")
        else:
            put(folded(_stacked(line, headings), room))


def put_columns(rows: list[tuple[str, ...]]) -> None:
    """Write rows as aligned text; a further line of the last cell stands below its first."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    for row in rows:
        *cells, last = row
        left = "".join(f"{cell:{width}}  " for cell, width in zip(cells, widths, strict=False))
        first, *others = last.split("\n")
        put("\n".join([f"{left}{first}".rstrip(), *(" " * len(left) + other for other in others)]))


def put_table(rows: list[tuple[str, ...]]) -> None:
    """Write rows with figures to the right: fitted to a terminal, in full width elsewhere."""
    columns = list(zip(*rows, strict=True))
    if not is_terminal(sys.stdout):
        put_columns(list(zip(*map(_to_the_right, columns), strict=True)))
        return
    right = [index for index, column in enumerate(columns) if _is_of_figures(column)]
    cells = [[Text(printable(cell)) for cell in row] for row in rows]
    Console(emoji=False).print(FittedTable([Text("")] * len(columns), cells, right=right))


def _stacked(cells: Sequence[str], headings: Sequence[str]) -> str:
    first, *others = zip(cells, headings, strict=True)
    labelled = (f"{name.lower()}: {cell}" if name else cell for cell, name in others)
    return "\n".join([first[0], *(_indented(cell) for cell in labelled if cell)])


def _indented(text: str) -> str:
    return textwrap.indent(text, "  ")


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - cell_len(cell))


def _width() -> int:
    return Console().width


def _to_the_right(column: tuple[str, ...]) -> tuple[str, ...]:
    width = max(map(len, column)) if _is_of_figures(column) else 0
    return tuple(cell.rjust(width) for cell in column)


def _is_of_figures(column: tuple[str, ...]) -> bool:
    """Say whether a column holds figures, below a heading if there is one."""
    return all(_FIGURE.fullmatch(cell) for cell in column[1:] or column)


def save_json(value: Any, path: Path) -> bool:
    """Write a JSON file; a failure is a remark, since the run itself is not harmed."""
    try:
        written = redacted(json_text(value))
        path.write_text(f"{written}\n", encoding="utf-8")
    except OSError as error:
        remark(f"warning: cannot write {path}: {error.strerror or error}", style="yellow")
        return False
    return True
