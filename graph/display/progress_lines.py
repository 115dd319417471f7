"""Progress as plain lines, for streams where nothing can be updated in place."""

import shutil
from collections.abc import Callable
from typing import Final

from graph.display.labels import format_seconds, format_task
from graph.display.progress import COULD_NOT, Event, RunProgress, describe_retry
from graph.display.text import to_one_line
from nodes.text.counts import format_count

MIN_RESULT_CHARS: Final = 20
"""Of a report's first line, however narrow the terminal is."""


def format_event(board: RunProgress, event: Event) -> str:
    """Return the line of an event; empty for one that is not shown."""
    known = {
        "reading": _format_reading,
        "request": _format_request,
        "plan_created": _format_plan,
        "plan_revised": _format_plan,
        "plan_rejected": _format_rejected,
        "plan_reviewed": _format_reviewed,
        "awaiting": _format_awaiting,
        "task_started": _format_started,
        "tool_call": _format_tool,
        "report": _format_report,
        "task_skipped": _format_skipped,
        "refined": _format_refined,
        "escalated": _format_escalated,
        "reassigned": _format_reassigned,
        "split": _format_split,
        "recruited": _format_recruited,
        "worker_unavailable": _format_unavailable,
        "remote_started": _format_remote_started,
        "remote_event": _format_remote_event,
        "criticized": _format_criticized,
        "limits_scaled": _format_limits_scaled,
        "team_changed": _format_team_changed,
        "taken_over": _format_takeover,
        "deadline": _format_deadline,
        "budget": _format_budget,
        "error": _format_error,
    }
    formatter: Callable[[RunProgress, Event], str] | None = known.get(str(event.get("kind")))
    return formatter(board, event) if formatter else ""


def _format_reading(board: RunProgress, event: Event) -> str:
    return board.phase


def _format_request(board: RunProgress, event: Event) -> str:
    if within := event.get("within"):
        return f"{to_one_line(within, 40)} assigned to team {to_one_line(event.get('team'), 40)}"
    parts = [f"models: {', '.join(board.models)}", *board.mechanisms]
    head = [to_one_line(part, 200) for part in (f"team {board.team}", *parts)]
    lines = [" · ".join(filter(None, [*head, board.origins]))]
    if kept := to_one_line(", ".join(board.kept_materials), 200):
        lines.append(f"kept from the thread: {kept}")
    lines += [to_one_line(note, 200) for note in board.notes]
    return "\n".join(lines)


def _format_plan(board: RunProgress, event: Event) -> str:
    within = str(event.get("within") or "")
    reason = to_one_line(event.get("reason") or "", 300)
    head = f"{to_one_line(within, 40)} plan:" if within else f"plan {board.plan_version}:"
    notes = [f"  note: {to_one_line(note, 200)}" for note in event.get("notes") or ()]
    if event.get("awaits_approval"):  # the question shows the plan
        return "\n".join(notes)
    plan = event.get("plan")
    untaken = plan.get("untaken") if isinstance(plan, dict) else ()
    notes += [f"  no worker takes: {to_one_line(part, 200)}" for part in untaken or ()]
    lines = [f"{head} {reason}".rstrip()]
    for row in board.list_tasks():
        if row.id.rpartition("/")[0] != within:
            continue
        after = f" (after {', '.join(row.depends_on)})" if row.depends_on else ""
        who = format_task(row.id, row.worker)
        lines.append(f"  {who}{after}: {to_one_line(row.description, 120)}")
    return "\n".join([*lines, *notes])


def _format_rejected(board: RunProgress, event: Event) -> str:
    return f"plan rejected: {to_one_line('; '.join(map(str, event.get('problems') or ())), 300)}"


def _format_reviewed(board: RunProgress, event: Event) -> str:
    reports = event.get("reports")
    names = to_one_line(", ".join(map(str, reports if isinstance(reports, dict) else ())), 120)
    verdict = "still makes sense" if event.get("makes_sense") else "must change"
    reason = to_one_line(event.get("remark") or event.get("reason") or "", 200)
    return f"{names} not as planned; the plan {verdict}{': ' if reason else ''}{reason}"


def _format_awaiting(board: RunProgress, event: Event) -> str:
    needs = to_one_line(", ".join(map(str, event.get("tasks") or ())), 120)
    return f"{_format_task_label(event)} awaiting {needs}"


def _format_started(board: RunProgress, event: Event) -> str:
    attempt = event.get("attempt") or 1
    return (
        f"{_format_task_label(event)} "
        f"working{f' (attempt {attempt}{describe_retry(event)})' if attempt > 1 else ''}"
    )


def _format_tool(board: RunProgress, event: Event) -> str:
    tool = to_one_line(event.get("tool"))
    error = str(event.get("error") or "").removeprefix(f"{tool} failed: ")
    failed = f" failed: {to_one_line(error, 200)}" if error else ""
    return f"{_format_task_label(event)} calls {tool}{failed}"


def _format_report(board: RunProgress, event: Event) -> str:
    row = next((row for row in board.list_tasks() if row.id == event.get("task")), None)
    if row is None:
        return ""
    has_no_note = row.state in ("done", COULD_NOT)  # the escalation's own line had the reason
    why = row.result if has_no_note else row.note
    ended = "ended" if row.state == COULD_NOT else row.state
    line = f"{_format_task_label(event)} {ended} in {format_seconds(row.compute_elapsed_s())}"
    room = max(MIN_RESULT_CHARS, shutil.get_terminal_size().columns - len(line) - len(": "))
    shown = to_one_line(why, room if has_no_note else 200)
    return f"{line}: {shown}" if shown else line


def _format_skipped(board: RunProgress, event: Event) -> str:
    return f"{_format_task_label(event)} skipped: {to_one_line(event.get('reason'), 200)}"


def _format_refined(board: RunProgress, event: Event) -> str:
    return f"{_format_task_label(event)} refined: {to_one_line(event.get('description'), 200)}"


def _format_escalated(board: RunProgress, event: Event) -> str:
    return f"{_format_task_label(event)} {COULD_NOT}: {to_one_line(event.get('message'), 200)}"


def _format_reassigned(board: RunProgress, event: Event) -> str:
    why = to_one_line(event.get("reason") or "", 200)
    task, worker = to_one_line(event.get("task"), 40), to_one_line(event.get("to"), 40)
    return f"{task} reassigned to {worker}: {why}"


def _format_split(board: RunProgress, event: Event) -> str:
    return f"{_format_task_label(event)} divided: {to_one_line(event.get('reason'), 200)}"


def _format_recruited(board: RunProgress, event: Event) -> str:
    tools = ", ".join(map(str, event.get("tools") or ())) or "no tools"
    made = to_one_line(event.get("role") or "a specialist", 80)
    return f"{_format_task_label(event)} recruited: {made}, with {to_one_line(tools, 200)}"


def _format_unavailable(board: RunProgress, event: Event) -> str:
    why = to_one_line(event.get("reason") or "", 200)
    return f"{to_one_line(event.get('worker'), 40)} is unavailable: {why}"


def _format_remote_started(board: RunProgress, event: Event) -> str:
    graph = f"{to_one_line(event.get('graph'), 80)} at " if event.get("graph") else ""
    joined = "joined" if event.get("is_joined") else "started"
    return f"{_format_task_label(event)} {joined} {graph}{to_one_line(event.get('host'), 80)}"


def _format_remote_event(board: RunProgress, event: Event) -> str:
    who = format_task(
        to_one_line(event.get("remote_task"), 40), to_one_line(event.get("remote_worker"), 40)
    )
    said = to_one_line(event.get("said") or "", 40).replace("_", " ")
    return f"{_format_task_label(event)} there: {who} {said}".replace("  ", " ")


def _format_criticized(board: RunProgress, event: Event) -> str:
    if event.get("accepted"):
        return "critic: accepted"
    sent = event.get("sent_back") or {}
    back = f"; sent back: {', '.join(sent)}" if sent else ""
    problems = to_one_line("; ".join(map(str, event.get("problems") or ())), 300)
    return f"critic: {problems}{back}"


def _format_limits_scaled(board: RunProgress, event: Event) -> str:
    model, factor = to_one_line(event.get("model"), 80), event.get("factor") or 1
    speed, timeouts = event.get("tokens_per_s"), event.get("timeouts")
    why = f"writes {speed:g} tokens a second" if speed else "is slow"
    why += f", {format_count(timeouts, 'call')} timed out" if timeouts else ""
    return f"{model} {why}: time limits that are not set are {factor:g} times as long"


def _format_takeover(board: RunProgress, event: Event) -> str:
    gap_s = event.get("gap_s")
    after = f" after {format_seconds(gap_s)}" if isinstance(gap_s, int | float) else ""
    return f"another instance of the server continues the run{after}"


def _format_team_changed(board: RunProgress, event: Event) -> str:
    changes = to_one_line("; ".join(map(str, event.get("changes") or ())), 300)
    return f"the team has changed; the run continues with the changed team: {changes}"


def _format_deadline(board: RunProgress, event: Event) -> str:
    option = f" ({event['option']} sets it)" if event.get("option") else ""
    return f"deadline reached: answering with the results so far{option}"


def _format_budget(board: RunProgress, event: Event) -> str:
    if event.get("level") == "low":
        return "budget: 80 % spent; using cheaper models and skipping optional tasks"
    if event.get("level") == "unpriced":
        models = ", ".join(map(str, event.get("models") or ()))
        return f"no price is known for {to_one_line(models, 200)}: only the token cap applies"
    reached = "step cap reached" if "unfinished" in event else "budget spent"
    return f"{reached}: answering with the results so far"


def _format_error(board: RunProgress, event: Event) -> str:
    """Return the line of an error that does not end the run; others are printed at its end."""
    return to_one_line(event.get("message"), 200) if event.get("state") else ""


def _format_task_label(event: Event) -> str:
    return format_task(to_one_line(event.get("task"), 40), to_one_line(event.get("worker"), 40))
