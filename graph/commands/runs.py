"""The commands on saved runs: `runs`, `show`, `trace` and `stop`, and the thread that one names."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from graph.commands.cancellation import run_cancellable
from graph.commands.output import (
    announce_file,
    print_json,
    print_listing,
    print_markdown,
    print_report,
    print_text,
    write_json,
)
from graph.display.labels import format_seconds, format_time, label_tasks
from graph.display.stderr_console import print_to_stderr
from graph.display.streams import is_terminal, print_to_stdout
from graph.display.summary import (
    REPORT_INDENT,
    format_edit,
    format_figures,
    format_more,
    format_plan,
    format_question,
    format_reply_command,
    format_result,
    format_retry,
    format_task_heading,
    format_task_report,
    format_way_out,
)
from graph.display.text import cut_middle, to_one_line
from graph.extensions import RunSource, find_first
from graph.pages.answer_file import write_answer
from graph.runs.chrome_trace import build_chrome_trace, read_timeline
from graph.runs.pruning import PruneSelection, RunFilter, remove_runs
from graph.runs.stopping import AT_RESUME, astop
from graph.runs.trace import ThreadUnknown, list_runs, list_threads, load_trace, refuse_other_forms
from graph.settings import Settings
from graph.stores.thread_locks import check_thread_id
from graph.teams.team_loader import find_team
from nodes.errors import UsageError
from nodes.text.counts import format_count
from nodes.text.markdown import format_answer
from nodes.text.plain_text import sanitize_line

Json = Mapping[str, Any]

_RESUMABLE: Final = ("running", "stopped")
"""Statuses of runs without an end; a run that was killed is listed as running."""
ALL_RUNS: Final = RunFilter()
LAST: Final = "last"
MIN_PREFIX_CHARS: Final = 6
MAX_LISTED: Final = 8
MAX_TEAM_CHARS: Final = 15
"""Of a name in the list of runs on a terminal, so that a row fits into 80 columns."""


class ThreadAmbiguous(UsageError):
    """Several threads begin like this."""


class RunsHere(RunSource):
    """The runs of this machine."""

    def list_threads(self) -> list[str]:
        """Return the threads, the newest first."""
        return list_threads(self.settings)

    def list_runs(self) -> tuple[Sequence[Json], list[str]]:
        """Return the runs, the newest first, and which of them may be resumed."""
        runs = list_runs(self.settings)
        unfinished = [run["thread"] for run in runs if run.get("status") in _RESUMABLE]
        hint = f"interrupted, or still running: {to_one_line(', '.join(unfinished), 160)}"
        return runs, [f"{hint}. next: supervise resume THREAD"] if unfinished else []

    def load_trace(self, thread: str) -> dict[str, Any]:
        """Return the trace of a run."""
        return load_trace(check_thread_id(thread), self.settings)

    def refuse_other_forms(self, thread: str) -> AbstractContextManager[None]:
        """Return what turns errors about values of another form into one line."""
        return refuse_other_forms(thread, self.settings)

    async def resume(self, thread: str, **given: Any) -> Any:  # an Outcome
        """Resume a run to its outcome."""
        from graph.runs.runner import aresume  # slow to load

        return await aresume(thread, settings=self.settings, **given)

    async def stop(self, thread: str, task: str) -> dict[str, str]:
        """Stop a task, or all; return how each ended, by its path."""
        return await astop(thread, task, settings=self.settings)


def open_runs(url: str | None, settings: Settings) -> RunSource:
    """Return the runs of the server at an address; those of this machine without one.

    Raises:
        UsageError: no extension reads the runs of a server.
    """
    if url is None:
        return RunsHere(settings)
    if found := find_first(lambda each: each.open_runs(url, settings)):
        return found
    raise UsageError("no extension reads the runs of a server", next="leave out --url")


def show_runs(runs: RunSource, which: RunFilter = ALL_RUNS) -> int:
    """List runs, the newest first."""
    found, notes = runs.list_runs()
    # Others have them in the order of their last event.
    newest = sorted(found, key=lambda run: str(run.get("started", "")), reverse=True)
    if chosen := which.select(newest, runs.settings):
        headings = ("THREAD", "TEAM", "STATUS", "STARTED", "TIME", "REQUEST")
        print_listing([_format_run_row(run) for run in chosen], headings)
    else:
        place = runs.place or f" in {runs.settings.home}"
        print_to_stderr(
            f"none of {format_count(len(found), 'run')}" if found else f"no runs{place}"
        )
    for note in notes:
        print_to_stderr(note, style="dim")
    return 0


def show_run(
    thread: str, runs: RunSource, *, profile: bool = False, out: Path | None = None
) -> int:
    """Show a run's answer; with its profile, or without an answer, how it was made too.

    Args:
        out: write the answer there instead, as Markdown or as a Word document.
    """
    trace = runs.load_trace(thread)
    with runs.refuse_other_forms(thread):
        if out is not None:
            request = str((trace.get("run") or {}).get("request", ""))
            write_answer(request, _find_answer(trace), out)
            announce_file("answer", out)
            return 0
        return print_run(thread, trace, named=runs.name_thread(thread), profile=profile)


def show_trace(thread: str, runs: RunSource, *, out: Path | None, format: str) -> int:
    """Write a run's trace as JSON, as spans or as a page, to stdout or to a file."""
    trace = runs.load_trace(thread)
    with runs.refuse_other_forms(thread):
        if format == "html":
            return print_report(trace, out)
        shown = lay_out_trace(thread, trace["events"]) if format == "chrome" else trace
    if out is None:
        print_json(shown)
    else:
        write_json(shown, out)
        announce_file("trace", out)
    return 0


def stop_tasks(thread: str, task: str, runs: RunSource) -> int:
    """Stop a task, or all, and print how each ended."""
    farewell = "stopped; the request may have been sent"
    ended = run_cancellable(runs.stop(thread, task), farewell=lambda: farewell)
    for path, status in ended.items():
        print_to_stderr(f"{sanitize_line(path, 200)} {sanitize_line(status, 40)}")
    if AT_RESUME in ended.values():
        print_to_stderr(f"next: supervise resume {runs.name_thread(thread)}")
    return 0


def find_thread(name: str, runs: RunSource) -> str:
    """Return the id of a thread; a name that is neither `last` nor a prefix is returned unchanged.

    Raises:
        ThreadUnknown: there is no last run.
        ThreadAmbiguous: several ids begin like this.
        ServerError: the server cannot be used.
    """
    is_named = name == LAST or (len(name) >= MIN_PREFIX_CHARS and not _is_whole_id(name))
    return choose_thread(name, runs.list_threads()) if is_named else name


def require_team(team: str, settings: Settings) -> None:
    """Refuse the name of a team that there is not, and of which no run is kept here.

    Raises:
        TeamInvalid: with the name that was probably meant.
    """
    if all(run.get("team") != team for run in list_runs(settings)):
        find_team(team, settings)


def prune_runs(settings: Settings, which: PruneSelection, *, is_dry: bool) -> int:
    """Remove runs, or their records alone, and print the space that this freed."""
    pruned = remove_runs(which, settings, is_dry=is_dry)
    for thread in pruned.threads:
        print_to_stdout(thread)
    for thread in pruned.still_running:
        print_to_stderr(f"{thread} is running and was kept", style="yellow")
    done = "would be removed" if is_dry else f"removed, {pruned.freed_bytes / 1e6:.1f} MB freed"
    what = "record" if which.only_records else "run"
    print_to_stderr(f"{format_count(len(pruned.threads), what)} {done}")
    return 0


def print_run(thread: str, trace: Json, *, named: str, profile: bool = False) -> int:
    """Print what a trace says of a run: the request, the answer, what it took; then its profile.

    Args:
        named: the thread as the commands that are advised name it.
        profile: print the plan, the reports and all figures too; without an answer they are printed
            anyway.
    """
    run, plans = trace.get("run") or {}, trace.get("plans") or []
    status, timing, usage = str(run.get("status", "")), *map(trace.get, ("timing", "usage"))
    print_to_stderr(to_one_line(run.get("request", ""), 500), style="bold")
    if answer := _find_answer(trace):
        print_markdown(format_answer(answer))
    if answer and not profile:
        more = format_more("how it was made", named, status, usage or {})
        figures = [format_result(thread, status, timing or {}, usage or {}), *more]
    else:
        _print_work(trace)
        figures = format_figures(thread, status, timing or {}, usage or {})
    for line in [*format_edit(run), *figures]:
        print_to_stderr(line, style="dim")
    for question in run.get("questions") or ():
        for line in format_question(question, shown_plan=plans[-1] if plans else None):
            print_to_stderr(line)
    if next_line := _format_next_step(named, run, trace.get("tasks") or ()):
        print_to_stderr(next_line, style="yellow")
    return 0


def lay_out_trace(thread: str, entries: Iterable[Json]) -> dict[str, Any]:
    """Return the spans of a trace for Perfetto; what they leave out is printed on stderr."""
    timeline = read_timeline(entries)
    if not timeline.has_ended:
        print_to_stderr("the run has not ended: open tasks end at its last event", style="yellow")
    if timeline.unreadable:
        skipped = format_count(timeline.unreadable, "entry", "entries")
        print_to_stderr(f"{skipped} of the trace could not be read", style="yellow")
    return build_chrome_trace(timeline, f"supervise {thread}")


def _print_work(trace: Json) -> None:
    """Print the last plan, and what came of each task."""
    states, plans, number = label_tasks(trace), trace.get("plans") or (), 0
    for event in trace.get("events") or ():
        if not event.get("within"):
            number = 0 if event.get("kind") == "request" else number + ("plan" in event)
    if _find_answer(trace):
        print_markdown("\n## How it was made\n")
    for plan in plans[-1:]:
        print_text("\n".join(format_plan(plan, states, number=number)))
    for task in trace.get("tasks") or ():
        _print_task(task, states[task["id"]])


def _format_run_row(run: Json) -> tuple[str, ...]:
    wall, team = run.get("wall_s"), run.get("team", "")
    return (
        to_one_line(run.get("thread", "")),
        cut_middle(team, MAX_TEAM_CHARS) if is_terminal(sys.stdout) else to_one_line(team),
        to_one_line(run.get("status", "")),
        format_time(str(run.get("started", ""))),
        "" if wall is None else format_seconds(wall),
        to_one_line(" · ".join([*format_edit(run), str(run.get("request", ""))]), 200),
    )


def _format_next_step(thread: str, run: Json, tasks: Iterable[Json]) -> str:
    """Return the next step for a run without an answer; empty if it has one."""
    match run.get("status"):
        case "running":
            return f"not ended: supervise resume {thread}"
        case "stopped" | "failed" as status:
            lacks_file = any((task.get("report") or {}).get("lacks_file") for task in tasks)
            return format_retry(thread, lacks_file=lacks_file and status == "failed")
        case "needs_input":
            asked = run["questions"]
            return f"{format_way_out(thread, asked)}\n{format_reply_command(thread, asked)}"
        case _:
            return ""


def _find_answer(trace: Json) -> Json:
    """Return the answer to the last request; empty without one."""
    own = (event for event in trace.get("events") or () if not event.get("within"))
    known = [event for event in own if event.get("kind") in ("request", "answer")]
    return known[-1].get("answer") or {} if known else {}


def _print_task(task: Json, state: str) -> None:
    """Print a task of a trace.

    On a terminal an output with a table is rendered, since the lines of a table cannot be wrapped.
    """
    report = task.get("report") or {}
    output = str(report.get("output") or "")
    print_text(f"\n{format_task_heading(task, state)}")
    if is_terminal(sys.stdout) and any(line.lstrip()[:1] == "|" for line in output.splitlines()):
        print_markdown(output, indent=REPORT_INDENT)
        output = ""
    if lines := format_task_report(report, output):
        print_text("\n".join(lines))


def choose_thread(name: str, threads: Iterable[str]) -> str:
    """Return the thread that a name means.

    Args:
        threads: the ids there are, the newest first.

    Raises:
        ThreadUnknown, ThreadAmbiguous: as `find_thread`.
    """
    known = list(threads)
    if name == LAST:
        if not known:
            raise ThreadUnknown("there is no last run", next="supervise run REQUEST")
        return known[0]
    if name in known:
        return name
    found = [thread for thread in known if thread.startswith(name)]
    if len(found) > 1:
        more = f" and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
        raise ThreadAmbiguous(
            f"{len(found)} threads begin with {name!r}",
            next=f"name one of {to_one_line(', '.join(found[:MAX_LISTED]), 800)}{more}",
        )
    return found[0] if found else name


def _is_whole_id(name: str) -> bool:
    """Return whether a name is the id of a server's thread, which is a UUID."""
    try:
        return bool(UUID(name))
    except ValueError:
        return False
