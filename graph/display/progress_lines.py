"""What an event says: a line where nothing can be updated in place, and the activity of a task."""

import shutil
from collections.abc import Callable, Mapping
from typing import Any, Final

from graph.display.labels import COULD_NOT, format_seconds, format_task, label_models, label_task
from graph.display.summary import format_edit, name_plan
from graph.display.text import describe_task, to_one_line
from graph.runs.run_view import RunEvent, RunView, TaskView
from nodes.text.counts import format_count

MIN_RESULT_CHARS: Final = 20
"""Of a report's first line, however narrow the terminal is."""
Event = Mapping[str, Any] | RunEvent


def format_event(view: RunView, event: Event) -> str:
    """Return the line of an event that was applied to the view; empty for one that is not shown."""
    kind = str(event.get("kind"))
    if kind in _RUN_LINES:
        return _RUN_LINES[kind](view, event)
    if kind not in _TASK_TEXTS:
        return ""
    worker = "" if kind == "reassigned" else _cut(event, "worker", 40)
    return f"{format_task(_cut(event, 'task', 40), worker)} {_TASK_TEXTS[kind](event)}"


def describe_activity(task: TaskView) -> str:
    """Return what a task does, or how it ended; of one that is done, its result."""
    if task.ended_s is not None:
        return (task.status == "completed" and find_result(task)) or _find_failure(task)
    event = task.activity
    if event is None:
        return ""
    return (
        _describe_attempt(event) if event.kind == "task_started" else _TASK_TEXTS[event.kind](event)
    )


def find_result(task: TaskView) -> str:
    """Return the first line of a report that holds letters or digits, without marks of Markdown."""
    output = str((task.report or {}).get("output") or "")
    lines = (line.replace("**", "").strip("#-*> ") for line in output.splitlines())
    return next((line for line in lines if any(map(str.isalnum, line))), "")


def list_mechanisms(request: Event) -> list[str]:
    """Return what differs from a plan for the team's own workers, in words."""
    found, depth = list[str](), request.get("max_recursion")
    caps = f" (at most {depth} deep, {request.get('max_breadth')} tasks wide)"
    if (strategy := request.get("strategy") or "plan") != "plan":
        found.append(f"strategy: {strategy}{caps if isinstance(depth, int) else ''}")
    if isinstance(grant := request.get("grant"), list | tuple):
        found.append(f"specialists: {', '.join(map(str, grant)) or 'no tools'}")
    return found


def list_notes(request: Event) -> list[str]:
    """Return what is kept from the thread, and the notes of a request."""
    kept = ", ".join(map(str, request.get("kept_materials") or ()))
    notes = [f"note: {note}" for note in request.get("notes") or ()]
    return [f"kept from the thread: {kept}", *notes] if kept else notes


def _find_failure(task: TaskView) -> str:
    """Return why a task was skipped, or has no result."""
    report = task.report or {}
    escalation = report.get("escalation") or {}
    return str(task.reason or report.get("error") or escalation.get("message") or "")


def _cut(event: Event, name: str, max_chars: int = 200) -> str:
    """Return a text of an event on one line, or the names and texts of a list of it."""
    value = event.get(name) or ""
    if isinstance(value, list | tuple | Mapping):
        value = ", ".join(map(str, value))
    return to_one_line(value, max_chars)


def _join_problems(event: Event) -> str:
    return to_one_line("; ".join(map(str, event.get("problems") or ())), 300)


def _format_request(view: RunView, event: Event) -> str:
    if event.get("within"):
        return f"{_cut(event, 'within', 40)} assigned to team {_cut(event, 'team', 40)}"
    models = ", ".join(label_models(event.get("models")))
    parts = [f"team {_cut(event, 'team')}", f"models: {models}", *list_mechanisms(event)]
    head = [to_one_line(part, 200) for part in parts]
    lines = [" · ".join(filter(None, [*head, view.origins]))]
    return "\n".join([*lines, *(to_one_line(note, 200) for note in list_notes(event))])


def _format_plan(view: RunView, event: Event) -> str:
    within = str(event.get("within") or "")
    notes = [f"  note: {to_one_line(note, 200)}" for note in event.get("notes") or ()]
    if event.get("awaits_approval"):  # the question shows the plan
        return "\n".join(notes)
    plan = event.get("plan")
    untaken = plan.get("untaken") if isinstance(plan, dict) else ()
    notes += [f"  no worker takes: {to_one_line(part, 200)}" for part in untaken or ()]
    head = f"{to_one_line(within, 40)} plan:" if within else f"{name_plan(view.plan_number)}:"
    lines = [f"{head} {_cut(event, 'reason', 300)}".rstrip()]
    for task in view.select_tasks(within):
        after = f" (after {', '.join(task.needs)})" if task.needs else ""
        what = to_one_line(describe_task(task.planned), 160)
        lines.append(f"  {format_task(task.id, task.worker)}{after}: {what}")
    return "\n".join([*lines, *notes])


def _format_review(view: RunView, event: Event) -> str:
    verdict = "still makes sense" if event.get("makes_sense") else "must change"
    reason = _cut(event, "remark") or _cut(event, "reason")
    names = _cut(event, "reports", 120)
    return f"{names} not as planned; the plan {verdict}{': ' if reason else ''}{reason}"


def _format_report(view: RunView, event: Event) -> str:
    task = view.tasks.get(str(event.get("task")))
    if task is None or not task.planned:
        return ""
    state = label_task(task)
    has_no_note = state in ("done", COULD_NOT)  # the escalation's own line had the reason
    ended = "ended" if state == COULD_NOT else state
    who = format_task(_cut(event, "task", 40), _cut(event, "worker", 40))
    line = f"{who} {ended} in {format_seconds(view.measure_task(task))}"
    room = max(MIN_RESULT_CHARS, shutil.get_terminal_size().columns - len(line) - len(": "))
    why = to_one_line(find_result(task), room) if has_no_note else to_one_line(_find_failure(task))
    return f"{line}: {why}" if why else line


def _format_critic(view: RunView, event: Event) -> str:
    sent = _cut(event, "sent_back")
    back = f"; sent back: {sent}" if sent else ""
    return f"critic: {'accepted' if event.get('accepted') else _join_problems(event) + back}"


def _format_slow_model(view: RunView, event: Event) -> str:
    speed, timeouts, factor = (event.get(name) for name in ("tokens_per_s", "timeouts", "factor"))
    why = f"writes {speed:g} tokens a second" if speed else "is slow"
    why += f", {format_count(timeouts, 'call')} timed out" if timeouts else ""
    limits = f"time limits that are not set are {factor or 1:g} times as long"
    return f"{_cut(event, 'model', 80)} {why}: {limits}"


def _format_takeover(view: RunView, event: Event) -> str:
    gap_s = event.get("gap_s")
    after = f" after {format_seconds(gap_s)}" if isinstance(gap_s, int | float) else ""
    return f"another instance of the server continues the run{after}"


def _format_team_change(view: RunView, event: Event) -> str:
    changes = to_one_line("; ".join(map(str, event.get("changes") or ())), 300)
    return f"the team has changed; the run continues with the changed team: {changes}"


def _format_deadline(view: RunView, event: Event) -> str:
    option = f" ({event.get('option')} sets it)" if event.get("option") else ""
    return f"deadline reached: answering with the results so far{option}"


def _format_budget(view: RunView, event: Event) -> str:
    if event.get("level") == "low":
        return "budget: 80 % spent; using cheaper models and skipping optional tasks"
    if event.get("level") == "unpriced":
        return f"no price is known for {_cut(event, 'models')}: only the token cap applies"
    reached = "budget spent" if event.get("unfinished") is None else "step cap reached"
    return f"{reached}: answering with the results so far"


def _format_error(view: RunView, event: Event) -> str:
    """Return the line of an error that does not end the run; others are printed at its end."""
    return _cut(event, "message") if event.get("state") else ""


def _describe_attempt(event: Event) -> str:
    """Return the number of a further attempt, and how it differs if no other event says so."""
    attempt, rung = event.get("attempt") or 1, event.get("rung")
    tier = f", {event.get('tier') or 'stronger'} tier" if rung == "tier" else ""
    return f"attempt {attempt}{', divided' if rung == 'split' else tier}" if attempt > 1 else ""


def _describe_start(event: Event) -> str:
    attempt = _describe_attempt(event)
    return f"working ({attempt})" if attempt else "working"


def _describe_call(event: Event) -> str:
    tool = _cut(event, "tool")
    error = to_one_line(str(event.get("error") or "").removeprefix(f"{tool} failed: "), 200)
    return f"{tool} failed: {error}" if error else f"calls {tool}"


def _describe_recruit(event: Event) -> str:
    made, tools = _cut(event, "role", 80), _cut(event, "tools")
    return f"recruited: {made or 'a specialist'}, with {tools or 'no tools'}"


def _describe_remote_start(event: Event) -> str:
    graph = f"{_cut(event, 'graph', 80)} at " if event.get("graph") else ""
    return f"{'joined' if event.get('is_joined') else 'started'} {graph}{_cut(event, 'host', 80)}"


def _describe_remote_event(event: Event) -> str:
    who = format_task(_cut(event, "remote_task", 40), _cut(event, "remote_worker", 40))
    said = _cut(event, "said", 40).replace("_", " ")
    return f"there: {who} {said}".replace("  ", " ")


_RUN_LINES: Final[Mapping[str, Callable[[RunView, Event], str]]] = {
    "reading": lambda view, event: view.phase,
    "not_read": lambda view, event: f"not read: {_cut(event, 'files', 600)}",
    "request": _format_request,
    "plan_created": _format_plan,
    "plan_revised": _format_plan,
    "plan_approved": lambda view, event: (
        "\n".join(format_edit(view.facts)) if not event.get("within") else ""
    ),
    "plan_rejected": lambda view, event: f"plan rejected: {_join_problems(event)}",
    "plan_reviewed": _format_review,
    "report": _format_report,
    "worker_unavailable": lambda view, event: (
        f"{_cut(event, 'worker', 40)} is unavailable: {_cut(event, 'reason')}"
    ),
    "criticized": _format_critic,
    "limits_scaled": _format_slow_model,
    "team_changed": _format_team_change,
    "taken_over": _format_takeover,
    "deadline": _format_deadline,
    "budget": _format_budget,
    "error": _format_error,
}
_TASK_TEXTS: Final[Mapping[str, Callable[[Event], str]]] = {
    "awaiting": lambda event: f"awaiting {_cut(event, 'tasks', 120)}",
    "task_started": _describe_start,
    "tool_call": _describe_call,
    "task_skipped": lambda event: f"skipped: {_cut(event, 'reason')}",
    "refined": lambda event: f"refined: {_cut(event, 'description')}",
    "escalated": lambda event: f"{COULD_NOT}: {_cut(event, 'message')}",
    "reassigned": lambda event: f"reassigned to {_cut(event, 'to', 40)}: {_cut(event, 'reason')}",
    "split": lambda event: f"divided: {_cut(event, 'reason')}",
    "recruited": _describe_recruit,
    "remote_started": _describe_remote_start,
    "remote_event": _describe_remote_event,
}
"""What follows the names of the task and the worker."""
