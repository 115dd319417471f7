"""Markdown on a terminal, with tables that never break a word."""

from collections.abc import Iterator
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markdown import Markdown, MarkdownElement, TableElement
from rich.text import Text

from graph.display.tables import FittedTable


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
