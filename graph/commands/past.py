"""`supervise runs`, `show` and `trace`: what ran."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graph.closing import answer_markdown, figures, plan_lines
from graph.commands.screen import put_columns, put_json, put_markdown, save_json
from graph.progress import STATES
from graph.prune import Which, prune
from graph.settings import Settings
from graph.terminal import one_line, printable, put, remark
from graph.threads import checked
from graph.trace import list_runs, load_trace

Json = Mapping[str, Any]


def show_runs(settings: Settings) -> int:
    """List the runs, the newest first."""
    runs = list_runs(settings)
    if not runs:
        remark(f"no runs in {settings.home}")
        return 0
    rows = [("THREAD", "TEAM", "STATUS", "STARTED", "SECONDS", "REQUEST")]
    put_columns(rows + [_run_row(run) for run in runs])
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
    for plan in (trace.get("plans") or [])[-1:]:
        put("\n".join(plan_lines(plan, _states(trace))))
    for task in trace.get("tasks") or ():
        put("\n".join(_report_lines(task)))
    if answer := _answer(trace):
        put("")
        put_markdown(answer_markdown(answer))
    status, usage = str(run.get("status", "")), trace.get("usage") or {}
    for line in figures(thread, status, trace.get("timing") or {}, usage):
        remark(line, style="dim")
    if status == "running":
        remark(f"not ended: supervise resume {thread}", style="yellow")
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
        "" if wall is None else f"{wall:.1f}",
        one_line(run.get("request", ""), 60),
    )


def _states(trace: Json) -> dict[str, str]:
    tasks = trace.get("tasks") or ()
    return {task["id"]: STATES.get(task["status"], task["status"]) for task in tasks}


def _report_lines(task: Json) -> Iterator[str]:
    report = task.get("report") or {}
    state = STATES.get(task["status"], task["status"])
    yield f"\n{task['id']} {task.get('worker', '')}: {state}{_confidence(report)}"
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
    return f", confidence {report.get('confidence', 0)}, {seconds:.1f} s"


def _answer(trace: Json) -> Json:
    events = [event for event in trace.get("events") or () if event.get("kind") == "answer"]
    return events[-1].get("answer") or {} if events else {}
