"""Progress on stderr: in place on a terminal, as plain lines elsewhere, or not at all."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from time import monotonic
from typing import Final

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from graph.progress import Board, Event, Row, changed
from graph.terminal import REMARKS, is_lively, one_line, remark

STYLES: Final = {
    "working": "cyan",
    "done": "green",
    "failed": "red",
    "skipped": "yellow",
    "escalated": "yellow",
}
MAX_SHOWN: Final = 30
"""Tasks shown in place; a larger plan shows those that are not done."""


class Display:
    """Hears a run's events and shows them. A context manager."""

    def __init__(self, board: Board, *, quiet: bool) -> None:
        self.board = board
        self._lively = is_lively() and not quiet
        self._plain = not self._lively and not quiet
        self._live: AbstractContextManager[object] = nullcontext()
        if self._lively:
            self._live = Live(
                console=REMARKS,
                get_renderable=lambda: board_shown(board),
                refresh_per_second=8,
                redirect_stdout=False,
            )

    def __enter__(self) -> "Display":
        self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the terminal as it was; to do so twice does no harm."""
        self._live.__exit__(None, None, None)

    def hear(self, event: Event) -> None:
        """Take an event in and show what it changed."""
        self.board.hear(event)
        if self._plain and (line := line_shown(self.board, event)):
            remark(line)


def board_shown(board: Board) -> RenderableType:
    """Draw the run as a table of tasks."""
    seconds = monotonic() - board.began
    head = Text(f"{board.phase} · {seconds:.0f} s · {board.tokens:,} tokens", style="bold")
    if board.models:
        head.append(f" · {one_line(', '.join(board.models))}", style="dim")
    rows = board.rows()
    if not rows:
        return head
    shown = [row for row in rows if len(rows) <= MAX_SHOWN or row.ended is None][:MAX_SHOWN]
    table = Table.grid(padding=(0, 1))
    for row in shown:
        table.add_row(*_cells(row))
    if len(shown) < len(rows):
        table.add_row("", "", Text(f"… {len(rows) - len(shown)} more tasks", style="dim"))
    return Group(head, table)


def line_shown(board: Board, event: Event) -> str:
    """Say an event in a line; empty for one that is not worth it."""
    known = {
        "request": _say_request,
        "plan_created": _say_plan,
        "plan_revised": _say_plan,
        "plan_rejected": _say_rejected,
        "task_started": _say_started,
        "tool_call": _say_tool,
        "report": _say_report,
        "task_skipped": _say_skipped,
        "refined": _say_refined,
        "escalated": _say_escalated,
        "reassigned": _say_reassigned,
        "split": _say_split,
        "recruited": _say_recruited,
        "criticized": _say_criticized,
        "deadline": _say_deadline,
        "budget": _say_budget,
        "error": _say_error,
    }
    say: Callable[[Board, Event], str] | None = known.get(str(event.get("kind")))
    return say(board, event) if say else ""


def _cells(row: Row) -> tuple[Text, ...]:
    style = STYLES.get(row.state, "dim")
    doing = row.remark if row.ended is not None else row.tool or row.remark
    told = f"{one_line(row.description, 60)}{f' · {one_line(doing, 60)}' if doing else ''}"
    spent = f"{row.elapsed_s():.1f} s" if row.began else ""
    tokens = f"{row.tokens:,} tok" if row.tokens else ""
    return (
        Text(one_line(row.id, 20), style="bold"),
        Text(one_line(row.worker, 20)),
        Text(one_line(row.state, 30), style=style),
        Text(spent, justify="right"),
        Text(tokens, justify="right", style="dim"),
        Text(told, style="dim", overflow="ellipsis", no_wrap=True),
    )


def _say_request(board: Board, event: Event) -> str:
    if within := event.get("within"):
        return f"{one_line(within, 40)} goes to the team {one_line(event.get('team'), 40)}"
    return f"team {one_line(board.team)} · models: {one_line(', '.join(board.models), 200)}"


def _say_plan(board: Board, event: Event) -> str:
    within = str(event.get("within") or "")
    reason = one_line(event.get("reason") or "", 300)
    head = f"{one_line(within, 40)} plan:" if within else f"plan {board.plan_version}:"
    lines = [f"{head} {reason}".rstrip()]
    for row in board.rows():
        if row.id.rpartition("/")[0] != within:
            continue
        after = f" (after {', '.join(row.needs)})" if row.needs else ""
        lines.append(f"  {row.id} {row.worker}{after}: {one_line(row.description, 120)}")
    return "\n".join(lines)


def _say_rejected(board: Board, event: Event) -> str:
    return f"plan refused: {one_line('; '.join(map(str, event.get('problems') or ())), 300)}"


def _say_started(board: Board, event: Event) -> str:
    attempt = event.get("attempt") or 1
    return f"{_who(event)} working{f' (attempt {attempt}{changed(event)})' if attempt > 1 else ''}"


def _say_tool(board: Board, event: Event) -> str:
    failed = f" failed: {one_line(event['error'], 200)}" if event.get("error") else ""
    return f"{_who(event)} calls {one_line(event.get('tool'))}{failed}"


def _say_report(board: Board, event: Event) -> str:
    row = next((row for row in board.rows() if row.id == event.get("task")), None)
    if row is None:
        return ""
    is_told = row.state in ("done", "escalated")  # why was said when it was handed back
    why = f": {one_line(row.remark, 200)}" if row.remark and not is_told else ""
    return f"{_who(event)} {row.state} in {row.elapsed_s():.2f} s{why}"


def _say_skipped(board: Board, event: Event) -> str:
    return f"{_who(event)} skipped: {one_line(event.get('reason'), 200)}"


def _say_refined(board: Board, event: Event) -> str:
    return f"{_who(event)} refined: {one_line(event.get('description'), 200)}"


def _say_escalated(board: Board, event: Event) -> str:
    return f"{_who(event)} hands back: {one_line(event.get('message'), 200)}"


def _say_reassigned(board: Board, event: Event) -> str:
    why = one_line(event.get("reason") or "", 200)
    return f"{one_line(event.get('task'), 40)} goes to {one_line(event.get('to'), 40)}: {why}"


def _say_split(board: Board, event: Event) -> str:
    return f"{_who(event)} is divided: {one_line(event.get('reason'), 200)}"


def _say_recruited(board: Board, event: Event) -> str:
    tools = ", ".join(map(str, event.get("tools") or ())) or "no tools"
    made = one_line(event.get("role") or "a specialist", 80)
    return f"{_who(event)} is recruited: {made}, with {one_line(tools, 200)}"


def _say_criticized(board: Board, event: Event) -> str:
    if event.get("accepted"):
        return "critic: accepted"
    sent = event.get("sent_back") or {}
    back = f"; sent back: {', '.join(sent)}" if sent else ""
    problems = one_line("; ".join(map(str, event.get("problems") or ())), 300)
    return f"critic: {problems}{back}"


def _say_deadline(board: Board, event: Event) -> str:
    return "deadline reached: answering with what there is"


def _say_budget(board: Board, event: Event) -> str:
    if event.get("level") == "low":
        return "budget: 80 % is spent; cheaper models, and nothing new that others can do without"
    return "budget spent: answering with what there is"


def _say_error(board: Board, event: Event) -> str:
    """Say what is no error of the run's: that ends it, and is told at its end."""
    return one_line(event.get("message"), 200) if event.get("state") else ""


def _who(event: Event) -> str:
    return f"{one_line(event.get('task'), 40)} {one_line(event.get('worker'), 40)}"
