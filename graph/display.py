"""Progress on stderr: in place on a terminal, as plain lines elsewhere, or not at all."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from graph.progress import Board, Event, Row
from graph.progress_lines import line_shown
from graph.terminal import REMARKS, is_lively, remark
from graph.text import one_line
from graph.wording import seconds_text

STYLES: Final = {
    "working": "cyan",
    "done": "green",
    "failed": "red",
    "skipped": "yellow",
    "escalated": "yellow",
}
MAX_SHOWN: Final = 30
"""Tasks shown at the end; a larger plan shows those that are not done."""
MEDIUM: Final = 60
"""Columns of a terminal from which on a task's worker and words are shown."""
WIDE: Final = 100
"""The same for its tokens."""


class Display:
    """Hears a run's events and shows them. A context manager, which may be entered again."""

    def __init__(self, *, quiet: bool) -> None:
        self.board = Board()
        self._lively = is_lively() and not quiet
        self._plain = not self._lively and not quiet
        self._live: Live | None = None

    def __enter__(self) -> "Display":
        if self._lively and self._live is None:
            self._live = Live(
                BoardView(self.board),
                console=REMARKS,
                refresh_per_second=8,
                redirect_stdout=False,
            )
            self._live.start(refresh=True)
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the terminal as it was; to do so twice does no harm."""
        if self._live is not None:
            live, self._live = self._live, None
            live.update(BoardView(self.board, is_final=True))
            live.stop()

    def hear(self, event: Event) -> None:
        """Take an event in and show what it changed."""
        self.board.hear(event)
        if self._plain and (line := line_shown(self.board, event)):
            remark(line)


class BoardView:
    """Draws a run as a table of tasks that fits the terminal, with a line above that sums it up."""

    def __init__(self, board: Board, *, is_final: bool = False) -> None:
        self._board, self._is_final = board, is_final

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        width, rows, seconds = options.max_width, self._board.rows(), self._board.seconds()
        if seconds is not None:
            yield _fitting(self._summary(rows, seconds), width)
        kept = one_line(", ".join(self._board.kept_materials), width)
        if kept:
            yield _fitting([f"kept from the thread: {kept}"], width)
        if not rows:
            return
        room = console.height - (4 if kept else 3)
        shown = _chosen(rows, None if self._is_final else max(1, room))
        yield _table(shown, width)
        if len(shown) < len(rows):
            yield Text(f"… {len(rows) - len(shown)} more tasks", style="dim")

    def _summary(self, rows: Sequence[Row], seconds: float) -> list[str]:
        board = self._board
        is_over = board.phase not in ("planning", "working", "answering")
        parts = [board.phase]
        if rows:
            done = sum(row.state == "done" for row in rows)
            parts.append(f"{done} of {len(rows)} {'tasks' if board.phase == 'done' else 'done'}")
        parts.append(seconds_text(seconds) if is_over else f"{seconds:.0f} s")
        return [*parts, f"{board.tokens:,} tokens", one_line(", ".join(board.models))]


def _fitting(parts: Sequence[str], width: int) -> Text:
    """Join as many parts as fit on a line; the first is cut if it must be."""
    kept = [part for part in parts if part]
    while len(kept) > 1 and len(" · ".join(kept)) > width:
        kept.pop()
    return Text(" · ".join(kept), style="bold", no_wrap=True, overflow="ellipsis")


def _chosen(rows: Sequence[Row], room: int | None) -> list[Row]:
    """Choose the rows for which there is room: who works, then who waits, then who has ended."""
    if room is None:
        is_large = len(rows) > MAX_SHOWN
        return [row for row in rows if not is_large or row.state != "done"][:MAX_SHOWN]
    ranks = {row.id: (row.ended is not None, row.state != "working") for row in rows}
    kept = {row.id for row in sorted(rows, key=lambda row: ranks[row.id])[:room]}
    return [row for row in rows if row.id in kept]


def _table(rows: Sequence[Row], width: int) -> Table:
    table = Table.grid(padding=(0, 1))
    lines = [_cells(row, width) for row in rows]
    for name in _columns(width):
        table.add_column(
            justify="right" if name in ("time", "tokens") else "left",
            no_wrap=True,
            overflow="ellipsis",
        )
    taken = [max(line[name].cell_len for line in lines) + 1 for name in _columns(width)]
    for row, line in zip(rows, lines, strict=True):
        cells = [line[name] for name in _columns(width)]
        if width >= MEDIUM:
            cells.append(Text(one_line(_words(row), max(1, width - sum(taken))), style="dim"))
        table.add_row(*cells)
    return table


def _columns(width: int) -> list[str]:
    if width < MEDIUM:
        return ["state", "time", "task"]
    return ["task", "worker", "state", "time", *(["tokens"] if width >= WIDE else [])]


def _cells(row: Row, width: int) -> dict[str, Text]:
    seconds = seconds_text(row.elapsed_s()) if row.ended is not None else f"{row.elapsed_s():.0f} s"
    return {
        "task": Text(one_line(row.id, 40 if width >= WIDE or width < MEDIUM else 24), style="bold"),
        "worker": Text(one_line(row.worker, 20 if width >= WIDE else 14)),
        "state": Text(one_line(row.state, 12), style=STYLES.get(row.state, "dim")),
        "time": Text(seconds if row.began or row.seconds else ""),
        "tokens": Text(f"{row.tokens:,} tok" if row.tokens else "", style="dim"),
    }


def _words(row: Row) -> str:
    """Say what a task is about, and what is to be said of it now."""
    doing = row.remark if row.ended is not None else row.tool or row.remark
    if row.waits_for:
        doing = f"for {', '.join(row.waits_for)}"
    return " · ".join(filter(None, (one_line(doing, 80), row.description)))
