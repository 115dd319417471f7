"""Progress on stderr: updated in place on a terminal, as plain lines elsewhere, or off."""

import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from graph.display.labels import COULD_NOT, format_seconds, label_models, label_task
from graph.display.progress_lines import (
    describe_activity,
    format_event,
    list_mechanisms,
    list_notes,
)
from graph.display.stderr_console import STDERR_CONSOLE, can_draw_live, print_to_stderr
from graph.display.streams import is_terminal
from graph.display.summary import format_edit
from graph.display.text import cut_middle, describe_task, make_printable, to_one_line
from graph.runs.event_log import Event
from graph.runs.run_view import RunView, TaskView
from nodes.text.counts import format_count
from state import COMPLETE_STATUSES

STATE_STYLES: Final = {
    "working": "cyan",
    "done": "green",
    "failed": "red",
    "skipped": "yellow",
    COULD_NOT: "yellow",
}
_STATE_ORDER: Final = ("working", "failed", COULD_NOT, "skipped", "ready", "waiting", "done")
MAX_FINAL_ROWS: Final = 30
"""Tasks shown at the end; of a larger plan only those that are not done."""
MEDIUM_COLUMNS: Final = 60
"""Terminal width from which a task's worker and description are shown."""
WIDE_COLUMNS: Final = 100
"""Terminal width from which a task's tokens are shown."""


class ProgressDisplay:
    """Shows a run's events. A context manager that may be entered again.

    Args:
        shows_answer: show the answer while it is written, if both streams are terminals.
        origins: the part of the run's first line that says where its settings come from.
        note: what else it says, when the run begins.
    """

    def __init__(
        self, *, quiet: bool, shows_answer: bool = False, origins: str = "", note: str = ""
    ) -> None:
        self.progress = RunView()
        self._is_live = can_draw_live() and not quiet
        self._note = note if self._is_live else ""
        parts = (origins,) if self._is_live else (origins, note)
        self.progress.origins = " · ".join(filter(None, parts))
        self.can_show_answer = shows_answer and self._is_live and is_terminal(sys.stdout)
        self._prints_lines = not self._is_live and not quiet
        self._live: Live | None = None

    def __enter__(self) -> "ProgressDisplay":
        if self._is_live and self._live is None:
            if origins := self.progress.origins:  # the table may have no room for them
                self.progress.origins = ""
                print_to_stderr(origins, style="dim")
            self._live = Live(
                ProgressTable(self.progress),
                console=STDERR_CONSOLE,
                refresh_per_second=8,
                redirect_stdout=False,
            )
            self._live.start(refresh=True)
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the live display; a second call does nothing."""
        if self._live is not None:
            live, self._live = self._live, None
            live.update(ProgressTable(self.progress, is_final=True))
            live.stop()

    def show_event(self, event: Event) -> None:
        """Update the progress from an event and show the change."""
        self.progress.apply_event(event)
        if self._note and event.get("kind") == "request":
            print_to_stderr(self._note, style="dim")
            self._note = ""
        is_shown = self._prints_lines or (self._is_live and event.get("kind") == "not_read")
        if is_shown and (line := format_event(self.progress, event)):
            print_to_stderr(line)

    def show_answer_text(self, text: str) -> None:
        """Show the answer so far, until the whole answer is printed on stdout."""
        self.progress.phase, self.progress.answer_text = "answering", text


class ProgressTable:
    """Draws a run as a table of tasks that fits the terminal, below a summary line."""

    def __init__(self, board: RunView, *, is_final: bool = False) -> None:
        self._progress, self._is_final = board, is_final

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        width, seconds = options.max_width, self._progress.read_seconds()
        # A plan that awaits approval is shown by the question.
        rows = [] if self._progress.phase == "planning" else self._progress.list_tasks()
        if seconds is not None:
            yield _join_fitting(self._build_summary(rows, seconds), width)
        request = self._progress.request
        heads = [" · ".join(list_mechanisms(request)), *list_notes(request)] if request else []
        heads += format_edit(self._progress.facts)
        heads = [head for head in heads if head]
        for head in heads:
            yield _join_fitting([to_one_line(head, width)], width)
        if not rows:
            return
        answer = "" if self._is_final else self._progress.answer_text
        room = console.height - 3 - len(heads)
        if answer:
            room //= 2
        shown = _choose_rows(rows, None if self._is_final else max(1, room))
        yield self._build_table(shown, width)
        if len(shown) < len(rows):
            yield _join_fitting([_describe_folded(rows, shown)], width, style="dim")
        if answer:
            yield Text("\n".join(_select_last_lines(answer, width, max(1, room))))

    def _build_summary(self, rows: Sequence[TaskView], seconds: float) -> list[str]:
        view = self._progress
        is_over = view.phase not in ("planning", "working", "answering")
        parts = [view.phase]
        if rows:
            done = sum(row.status == "completed" for row in rows)
            is_done = view.phase in COMPLETE_STATUSES
            total = format_count(len(rows), "task") if is_done else f"{len(rows)} done"
            parts.append(f"{done} of {total}")
        parts.append(format_seconds(seconds) if is_over else f"{seconds:.0f} s")
        if not is_over:
            left = (row for row in rows if row.status != "completed")
            parts.append(", ".join(_count_states(left)))
        models = label_models(view.request.get("models") if view.request else ())
        tokens = format_count(view.tokens, "token") if view.tokens else ""
        return [*parts, tokens, to_one_line(", ".join(models))]

    def _build_table(self, rows: Sequence[TaskView], width: int) -> Table:
        table = Table.grid(padding=(0, 1))
        lines = [self._format_cells(row, width) for row in rows]
        columns = _list_columns(rows, width)
        for name in columns:
            table.add_column(
                justify="right" if name in ("time", "tokens") else "left",
                no_wrap=True,
                overflow="ellipsis",
            )
        taken = [max(line[name].cell_len for line in lines) + 1 for name in columns]
        for row, line in zip(rows, lines, strict=True):
            cells = [line[name] for name in columns]
            if width >= MEDIUM_COLUMNS:
                cells.append(
                    Text(to_one_line(_describe_row(row), max(1, width - sum(taken))), style="dim")
                )
            table.add_row(*cells)
        return table

    def _format_cells(self, row: TaskView, width: int) -> dict[str, Text]:
        seconds, state = self._progress.measure_task(row), label_task(row)
        time = format_seconds(seconds) if row.ended_s is not None else f"{seconds:.0f} s"
        is_wide = width >= WIDE_COLUMNS
        shown = cut_middle(row.id, 40 if is_wide or width < MEDIUM_COLUMNS else 24)
        return {
            "task": Text(shown, style="bold"),
            "worker": Text(to_one_line(row.worker, 20 if is_wide else 14)),
            "state": Text(to_one_line(state, len(COULD_NOT)), style=STATE_STYLES.get(state, "dim")),
            "time": Text(time if row.attempts or row.report else ""),
            "tokens": Text(f"{row.tokens:,} tok" if row.tokens else "", style="dim"),
        }


def _select_last_lines(text: str, width: int, count: int) -> list[str]:
    """Return the last lines of a text that is wrapped to a width."""
    end = make_printable(text[-count * width :])
    return [part for line in end.splitlines() for part in textwrap.wrap(line, width)][-count:]


def _count_states(rows: Iterable[TaskView]) -> list[str]:
    """Return how many tasks are in each state, such as `3 working`."""
    counts = Counter(map(label_task, rows))
    return [f"{counts[state]} {to_one_line(state, 20)}" for state in sorted(counts, key=_rank)]


def _rank(state: str) -> int:
    """Return the place of a state in a list: what needs attention first."""
    return _STATE_ORDER.index(state) if state in _STATE_ORDER else len(_STATE_ORDER)


def _describe_folded(rows: Sequence[TaskView], shown: Sequence[TaskView]) -> str:
    kept = {row.id for row in shown}
    folded = [row for row in rows if row.id not in kept]
    return f"… {format_count(len(folded), 'more task')}: {', '.join(_count_states(folded))}"


def _join_fitting(parts: Sequence[str], width: int, style: str = "bold") -> Text:
    """Join as many parts as fit on a line; the first is cut if necessary."""
    kept = [part for part in parts if part]
    while len(kept) > 1 and len(" · ".join(kept)) > width:
        kept.pop()
    return Text(" · ".join(kept), style=style, no_wrap=True, overflow="ellipsis")


def _choose_rows(rows: Sequence[TaskView], room: int | None) -> list[TaskView]:
    """Choose the rows that fit: working tasks first, then waiting ones, then ended ones."""
    if room is None:
        is_large = len(rows) > MAX_FINAL_ROWS
        return [row for row in rows if not is_large or row.status != "completed"][:MAX_FINAL_ROWS]
    ranks = {row.id: (row.ended_s is not None, row.status != "working") for row in rows}
    kept = {row.id for row in sorted(rows, key=lambda row: ranks[row.id])[:room]}
    return [row for row in rows if row.id in kept]


def _list_columns(rows: Sequence[TaskView], width: int) -> list[str]:
    """Return the columns; many tasks of one worker leave its column to what they do."""
    if width < MEDIUM_COLUMNS:
        return ["state", "time", "task"]
    if width >= WIDE_COLUMNS:
        return ["task", "worker", "state", "time", "tokens"]
    has_one_worker = len(rows) > 1 and len({row.worker for row in rows}) == 1
    return ["task", *([] if has_one_worker else ["worker"]), "state", "time"]


def _describe_row(row: TaskView) -> str:
    """Return a task's current activity and its description; of one that is done, its result."""
    doing = describe_activity(row)
    if row.status == "completed" and doing:
        return doing
    if row.waits_for:
        others = len(row.waits_for) - 1
        doing = f"for {cut_middle(row.waits_for[0], 24)}{f' and {others} more' if others else ''}"
    return " · ".join(filter(None, (to_one_line(doing, 80), describe_task(row.planned))))
