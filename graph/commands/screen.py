"""What commands put on stdout: Markdown, tables as text, JSON."""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from graph.terminal import printable, put, remark
from nodes.redaction import redacted

_FIGURE: Final = re.compile(r"[-+]?[\d,.e+-]*")


def put_markdown(text: str) -> None:
    """Write Markdown: rendered on a terminal, as it is elsewhere."""
    shown = printable(text)
    if sys.stdout is not None and sys.stdout.isatty():
        Console(emoji=False).print(Markdown(shown, hyperlinks=False))
    else:
        put(shown)


def put_json(value: Any) -> None:
    """Write one JSON object; `Any` is whatever `json` can say."""
    put(json.dumps(value, ensure_ascii=False, indent=2))


def put_columns(rows: list[tuple[str, ...]]) -> None:
    """Write rows as aligned text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        put("  ".join(cells).rstrip())


def put_table(rows: list[tuple[str, ...]]) -> None:
    """Write rows with figures to the right: fitted to a terminal, in full width elsewhere."""
    columns = list(zip(*rows, strict=True))
    if sys.stdout is None or not sys.stdout.isatty():
        put_columns(list(zip(*map(_to_the_right, columns), strict=True)))
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(justify="right" if _is_of_figures(column) else "left")
    for row in rows:
        table.add_row(*(Text(printable(cell), overflow="fold") for cell in row))
    Console(emoji=False).print(table)


def _to_the_right(column: tuple[str, ...]) -> tuple[str, ...]:
    width = max(map(len, column)) if _is_of_figures(column) else 0
    return tuple(cell.rjust(width) for cell in column)


def _is_of_figures(column: tuple[str, ...]) -> bool:
    """Say whether a column holds figures, below a heading if there is one."""
    return all(_FIGURE.fullmatch(cell) for cell in column[1:] or column)


def save_json(value: Any, path: Path) -> bool:
    """Write a JSON file; a failure is a remark, since the run itself is not harmed."""
    try:
        written = redacted(json.dumps(value, ensure_ascii=False, indent=2))
        path.write_text(f"{written}\n", encoding="utf-8")
    except OSError as error:
        remark(f"warning: cannot write {path}: {error.strerror or error}", style="yellow")
        return False
    return True
