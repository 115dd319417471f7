"""Progress as plain lines: what is said of an event where nothing can be drawn in place."""

from collections.abc import Callable

from graph.progress import Board, Event, changed
from graph.text import one_line
from graph.wording import seconds_text, task_text


def line_shown(board: Board, event: Event) -> str:
    """Say an event in a line; empty for one that is not worth it."""
    known = {
        "reading": _say_reading,
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
        "team_changed": _say_team_changed,
        "deadline": _say_deadline,
        "budget": _say_budget,
        "error": _say_error,
    }
    say: Callable[[Board, Event], str] | None = known.get(str(event.get("kind")))
    return say(board, event) if say else ""


def _say_reading(board: Board, event: Event) -> str:
    return board.phase


def _say_request(board: Board, event: Event) -> str:
    if within := event.get("within"):
        return f"{one_line(within, 40)} goes to the team {one_line(event.get('team'), 40)}"
    lines = [f"team {one_line(board.team)} · models: {one_line(', '.join(board.models), 200)}"]
    if kept := one_line(", ".join(board.kept_materials), 200):
        lines.append(f"kept from the thread: {kept}")
    return "\n".join(lines)


def _say_plan(board: Board, event: Event) -> str:
    within = str(event.get("within") or "")
    reason = one_line(event.get("reason") or "", 300)
    head = f"{one_line(within, 40)} plan:" if within else f"plan {board.plan_version}:"
    lines = [f"{head} {reason}".rstrip()]
    for row in board.rows():
        if row.id.rpartition("/")[0] != within:
            continue
        after = f" (after {', '.join(row.needs)})" if row.needs else ""
        who = task_text(row.id, row.worker)
        lines.append(f"  {who}{after}: {one_line(row.description, 120)}")
    lines += [f"  note: {one_line(note, 200)}" for note in event.get("notes") or ()]
    return "\n".join(lines)


def _say_rejected(board: Board, event: Event) -> str:
    return f"plan refused: {one_line('; '.join(map(str, event.get('problems') or ())), 300)}"


def _say_started(board: Board, event: Event) -> str:
    attempt = event.get("attempt") or 1
    return f"{_who(event)} working{f' (attempt {attempt}{changed(event)})' if attempt > 1 else ''}"


def _say_tool(board: Board, event: Event) -> str:
    tool = one_line(event.get("tool"))
    error = str(event.get("error") or "").removeprefix(f"{tool} failed: ")
    failed = f" failed: {one_line(error, 200)}" if error else ""
    return f"{_who(event)} calls {tool}{failed}"


def _say_report(board: Board, event: Event) -> str:
    row = next((row for row in board.rows() if row.id == event.get("task")), None)
    if row is None:
        return ""
    is_told = row.state in ("done", "escalated")  # why was said when it was handed back
    why = f": {one_line(row.remark, 200)}" if row.remark and not is_told else ""
    return f"{_who(event)} {row.state} in {seconds_text(row.elapsed_s())}{why}"


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


def _say_team_changed(board: Board, event: Event) -> str:
    changes = one_line("; ".join(map(str, event.get("changes") or ())), 300)
    return f"the team has changed, and the run goes on with it as it is now: {changes}"


def _say_deadline(board: Board, event: Event) -> str:
    return "deadline reached: answering with what there is"


def _say_budget(board: Board, event: Event) -> str:
    if event.get("level") == "low":
        return "budget: 80 % is spent; cheaper models, and nothing new that others can do without"
    if event.get("level") == "unpriced":
        models = ", ".join(map(str, event.get("models") or ()))
        return f"no price is known for {one_line(models, 200)}: only the token cap holds"
    return "budget spent: answering with what there is"


def _say_error(board: Board, event: Event) -> str:
    """Say what is no error of the run's: that ends it, and is told at its end."""
    return one_line(event.get("message"), 200) if event.get("state") else ""


def _who(event: Event) -> str:
    return task_text(one_line(event.get("task"), 40), one_line(event.get("worker"), 40))
