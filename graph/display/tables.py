"""Tables on a terminal: fitted to its width, and those of Markdown in it."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markdown import Markdown, MarkdownElement, TableElement
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text


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
