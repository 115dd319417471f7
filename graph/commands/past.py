"""`supervise runs`, `show` and `trace`: what ran."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from graph.closing import answer_markdown, figures, plan_lines, question_lines, reply_line
from graph.commands.screen import put_json, put_listing, put_markdown, put_text, save_json
from graph.progress import STATES
from graph.prune import Which, prune
from graph.settings import Settings
from graph.streams import put
from graph.terminal import remark
from graph.text import one_line, printable
from graph.threads import checked
from graph.trace import list_runs, load_trace
from graph.wording import seconds_text, task_text

Json = Mapping[str, Any]

_CUT: Final = {"working": "cut off"}
_IDLE: Final = {
    "stopped": _CUT,
    "failed": _CUT,
    "needs_input": {"working": "waiting for your answer"},
}
"""What a task that began and gave no report is doing, by the run's status."""


def show_runs(settings: Settings) -> int:
    """List the runs, the newest first."""
    runs = list_runs(settings)
    if not runs:
        remark(f"no runs in {settings.home}")
        return 0
    headings = ("THREAD", "TEAM", "STATUS", "STARTED", "TIME", "REQUEST")
    put_listing([_run_row(run) for run in runs], headings)
    return 0


def prune_runs(
    settings: Settings,
    *,
    older_than: str | None,
    keep: int | None,
    status: str | None,
    is_dry: bool,
) -> int:
    """Remove runs, and say what that freed."""
    which = Which.of(older_than=older_than, keep=keep, status=status)
    pruned = prune(which, settings, is_dry=is_dry)
    for thread in pruned.threads:
        put(thread)
    for thread in pruned.running:
        remark(f"{thread} is running, and stays", style="yellow")
    told = "would be removed" if is_dry else f"removed, {pruned.bytes / 1e6:.1f} MB freed"
    count = len(pruned.threads)
    remark(f"{count} run{'' if count == 1 else 's'} {told}")
    return 0


def show_run(thread: str, settings: Settings) -> int:
    """Show a run's plan, its reports and its answer."""
    trace = load_trace(checked(thread), settings)
    run = trace.get("run") or {}
    remark(one_line(run.get("request", ""), 500), style="bold")
    states, plans = _states(trace), trace.get("plans") or []
    for plan in plans[-1:]:
        put_text("\n".join(plan_lines(plan, states)))
    for task in trace.get("tasks") or ():
        put_text("\n".join(_report_lines(task, states[task["id"]])))
    if answer := _answer(trace):
        put("")
        put_markdown(answer_markdown(answer))
    status, usage = str(run.get("status", "")), trace.get("usage") or {}
    for line in figures(thread, status, trace.get("timing") or {}, usage):
        remark(line, style="dim")
    for question in run.get("questions") or ():
        for line in question_lines(question, shown_plan=plans[-1] if plans else None):
            remark(line)
    if next_line := _next_line(thread, run):
        remark(next_line, style="yellow")
    return 0


def show_trace(thread: str, *, out: Path | None, settings: Settings) -> int:
    """Write a run's trace as JSON, to stdout or to a file."""
    trace = load_trace(checked(thread), settings)
    if out is None:
        put_json(trace)
        return 0
    return 0 if save_json(trace, out) else 2


def _run_row(run: Json) -> tuple[str, ...]:
    wall = run.get("wall_s")
    return (
        one_line(run.get("thread", "")),
        one_line(run.get("team", "")),
        one_line(run.get("status", "")),
        one_line(str(run.get("started", ""))[:19]),
        "" if wall is None else seconds_text(wall),
        one_line(run.get("request", ""), 160),
    )


def _next_line(thread: str, run: Json) -> str:
    """Say how a run goes on that has given no answer; empty when it has."""
    match run.get("status"):
        case "running":
            return f"not ended: supervise resume {thread}"
        case "stopped" | "failed":
            return f"next: supervise resume {thread}"
        case "needs_input":
            return reply_line(thread, run["questions"])
        case _:
            return ""


def _states(trace: Json) -> dict[str, str]:
    """Say how each task stands; in a run that has stopped nobody works."""
    status = (trace.get("run") or {}).get("status")
    states = {**STATES, **_IDLE.get(str(status), {})}
    tasks = trace.get("tasks") or ()
    return {task["id"]: states.get(task["status"], task["status"]) for task in tasks}


def _report_lines(task: Json, state: str) -> Iterator[str]:
    report = task.get("report") or {}
    yield f"\n{task_text(task['id'], task.get('worker', ''))}: {state}{_confidence(report)}"
    escalation = report.get("escalation") or {}
    for text in (report.get("output"), report.get("error"), escalation.get("message")):
        if text:
            yield "\n".join(f"  {line}" for line in printable(text).splitlines())
    told = report.get("output") or ""
    for claim in report.get("claims") or ():
        if claim.get("text") and claim["text"] in told:
            continue
        source = f" ({one_line(claim['source'], 120)})" if claim.get("source") else ""
        yield f"  - {one_line(claim.get('text', ''), 300)}{source}"


def _confidence(report: Json) -> str:
    if not report:
        return ""
    seconds = (report.get("ended_s") or 0) - (report.get("started_s") or 0)
    return f", confidence {report.get('confidence', 0)}, {seconds_text(seconds)}"


def _answer(trace: Json) -> Json:
    events = [event for event in trace.get("events") or () if event.get("kind") == "answer"]
    return events[-1].get("answer") or {} if events else {}
