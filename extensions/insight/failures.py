"""Counts the causes of failures over runs, teams and workers, and who contradicts whom."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from typing import Any, Final

from extensions.insight.causes import Cause, explain
from extensions.insight.fault_kinds import get_fault_kind
from extensions.insight.run_facts import Json
from graph.commands.output import print_json, print_listing, print_text
from graph.commands.runs import RunsHere, require_team
from graph.display.stderr_console import print_to_stderr
from graph.extensions import RunSource
from graph.runs.event_log import FORM_ERRORS
from graph.runs.pruning import parse_age
from graph.runs.trace import ThreadUnknown, TraceUnreadable, get_log_path
from nodes.errors import SupervisorError
from nodes.text.counts import format_count
from nodes.text.plain_text import to_one_line

MAX_NAMED: Final = 5
"""Threads without a readable trace, and claims of a contradiction, that are taken one by one."""

_UNREADABLE: Final = (TraceUnreadable.code, "SERVER_UNREADABLE", "THREAD_FOREIGN")
"""Codes of one thread's trace, here or on a server; another error ends the count."""


@dataclass
class CauseCount:
    """A kind of cause, over runs: the tasks that it lost, and where it began."""

    kind: str
    mast: str
    example: str
    """The newest thread with it, and its sentence there."""
    sentence: str
    runs: int = 0
    lost: int = 0
    teams: Counter[str] = field(default_factory=Counter)
    """Runs by team; so by user, where the runs name theirs."""
    users: Counter[str] = field(default_factory=Counter)
    workers: Counter[str] = field(default_factory=Counter)


@dataclass
class Failures:
    """The causes over some runs."""

    runs: int = 0
    failed: int = 0
    """Runs with a cause."""
    unreadable: list[str] = field(default_factory=list)
    """Threads whose traces cannot be read; they are in no other figure."""
    causes: dict[str, CauseCount] = field(default_factory=dict)
    conflicts: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    """By pair of workers, the threads in which their claims contradict each other."""

    def add(self, thread: str, trace: Json, causes: Iterable[Cause]) -> None:
        """Count a run."""
        run, seen, pairs = trace["run"], set[str](), set(_list_conflicts(trace))
        for cause in causes:
            new = CauseCount(cause.kind, cause.mast, thread, cause.sentence)
            count = self.causes.setdefault(cause.kind, new)
            count.lost += len(cause.lost)
            count.workers[cause.worker or "the run"] += 1
            if cause.kind not in seen:
                count.runs += 1
                count.teams[to_one_line(run.get("team") or "?", 80)] += 1
                count.users.update([to_one_line(run["user"], 80)] if run.get("user") else [])
            seen.add(cause.kind)
        self.runs, self.failed = self.runs + 1, self.failed + bool(seen)
        for pair in pairs:
            self.conflicts[pair].append(thread)

    def to_json(self) -> dict[str, Any]:
        """Return it as one JSON object, the most frequent causes first."""
        ranked = sorted(self.causes.values(), key=lambda each: (-each.runs, each.kind))
        pairs = sorted(self.conflicts.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        conflicts = [{"workers": [*pair], "runs": len(t), "example": t[0]} for pair, t in pairs]
        causes = [dict(vars(each)) for each in ranked]
        return {**vars(self), "causes": causes, "conflicts": conflicts}


def _list_conflicts(trace: Json) -> Iterator[tuple[str, str]]:
    """Yield the pairs of workers whose claims contradict each other in the last answer."""
    writers = {
        (claim["text"], claim.get("source")): to_one_line(report.get("worker") or "", 80)
        for report in (task.get("report") or {} for task in trace["tasks"])
        for claim in report.get("claims") or ()
    }
    events = (each for each in reversed(trace["events"]) if not each.get("within"))
    answer: Json = next((each["answer"] for each in events if each.get("kind") == "answer"), {})
    for found in answer.get("contradictions") or ():
        named = [(claim["text"], claim.get("source")) for claim in found["claims"][:MAX_NAMED]]
        known = {writers.get(claim, "") for claim in named}
        yield from combinations(sorted(filter(None, known)), 2)


def count_failures(
    threads: Iterable[str], load_trace: Callable[[str], Json], is_wanted: Callable[[Json], bool]
) -> Failures:
    """Count the causes over threads; of a trace that cannot be read only the thread is kept."""
    found = Failures()
    for thread in threads:
        try:
            trace = load_trace(thread)
            if is_wanted(trace["run"]):
                found.add(thread, trace, explain(trace).causes)
        except FORM_ERRORS:
            found.unreadable.append(thread)
        except SupervisorError as error:
            if error.code in _UNREADABLE:
                found.unreadable.append(thread)
            elif error.code != ThreadUnknown.code:  # another process has just removed it
                raise
    return found


def show_failures(since: str, team: str | None, runs: RunSource, *, as_json: bool) -> int:
    """Print the causes of the failures of some time, the most frequent first; return 0.

    Raises:
        UsageError: the time is none, or there is no run and no team of this name.
        ServerError: the server cannot be used.
    """
    begin_s, here = time.time() - parse_age(since), isinstance(runs, RunsHere)
    threads = [thread for thread in runs.list_threads() if _read_end(runs, thread) >= begin_s]

    def is_wanted(run: Json) -> bool:
        return team in (None, run.get("team")) and (here or _read_start(run) >= begin_s)

    found = count_failures(threads, runs.load_trace, is_wanted)
    if team and not found.runs and isinstance(runs, RunsHere):
        require_team(team, runs.settings)
    if as_json:
        print_json({"since": since, "team": team, **found.to_json()})
        return 0
    _print_failures(found.to_json(), since)
    for thread in found.unreadable[:MAX_NAMED]:
        print_to_stderr(f"the trace of {thread} cannot be read, and is not counted", style="yellow")
    if (more := len(found.unreadable) - MAX_NAMED) > 0:
        print_to_stderr(f"and {format_count(more, 'more trace')}: --json lists all", style="yellow")
    return 0


def _read_end(runs: RunSource, thread: str) -> float:
    """Return the time of a run's last event here."""
    if not isinstance(runs, RunsHere):
        return time.time()
    path = get_log_path(thread, runs.settings)
    with suppress(OSError):  # it may be pruned meanwhile
        return path.stat().st_mtime
    return 0.0


def _read_start(run: Json) -> float:
    """Return the second of a run's start; of an unknown one, now: it is not left out."""
    with suppress(ValueError):
        return datetime.fromisoformat(str(run.get("started"))).timestamp()
    return time.time()


def _print_failures(found: Json, since: str) -> None:
    counted = f"{format_count(found['runs'], 'run')} in the last {since}"
    print_text(f"{counted}, {found['failed']} of them with a cause of failure.")
    rows = []
    for each in found["causes"]:
        words = get_fault_kind(each["kind"]).words.format(tool="of a worker")
        most = (_name_most(each[name]) for name in ("teams", "workers"))
        numbers = (str(each["runs"]), str(each["lost"]))
        rows.append((each["kind"], *numbers, *most, each["example"], words))
    if rows:
        print_listing(rows, ("CAUSE", "RUNS", "TASKS LOST", "TEAMS", "WORKERS", "EXAMPLE", "WHAT"))
        print_to_stderr("next: supervise why THREAD", style="dim")
    for each in found["conflicts"]:
        pair, count = " and ".join(each["workers"]), format_count(each["runs"], "run")
        print_text(f"conflict: {pair} contradict each other in {count}, such as {each['example']}")


def _name_most(counts: Mapping[str, int]) -> str:
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count}" for name, count in ranked[:3])
