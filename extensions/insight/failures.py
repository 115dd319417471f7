"""Counts the causes of failures over runs, teams and workers, and who contradicts whom."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from typing import Any, Final

from extensions.insight.causes import Explanation, explain
from extensions.insight.fault_kinds import get_fault_kind
from extensions.insight.run_facts import Json, as_list, as_map, as_text
from graph.commands.output import print_json, print_listing, print_text
from graph.commands.runs import Runs, RunsHere
from graph.display.stderr_console import print_to_stderr
from graph.runs.pruning import parse_age
from graph.runs.trace import ThreadUnknown, TraceUnreadable, get_log_path
from nodes.text.counts import format_count

MAX_CONFLICT_CLAIMS: Final = 50


@dataclass
class CauseCount:
    """A kind of cause, over runs."""

    kind: str
    runs: int = 0
    tasks: int = 0
    """Where it began; several in one run count each."""
    lost: int = 0
    """Tasks that lacked something for it."""
    teams: Counter[str] = field(default_factory=Counter)
    workers: Counter[str] = field(default_factory=Counter)
    users: Counter[str] = field(default_factory=Counter)
    """Where the runs name theirs."""
    mast: str = ""
    example: str = ""
    """The newest thread with it."""
    sentence: str = ""


@dataclass
class Failures:
    """The causes over some runs."""

    runs: int = 0
    failed: int = 0
    """Runs with a cause."""
    unreadable: list[str] = field(default_factory=list)
    """Threads whose traces cannot be read; they are in no other figure."""
    causes: dict[str, CauseCount] = field(default_factory=dict)
    conflicts: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """By pair of workers, the threads in which their claims contradict each other."""

    def add(self, thread: str, trace: Json, why: Explanation) -> None:
        """Count a run."""
        run, seen = as_map(trace.get("run")), set[str]()
        self.runs += 1
        self.failed += bool(why.causes)
        for cause in why.causes:
            count = self.causes.setdefault(
                cause.kind,
                CauseCount(cause.kind, mast=cause.mast, example=thread, sentence=cause.sentence),
            )
            count.runs += cause.kind not in seen
            count.tasks += 1
            count.lost += len(cause.lost)
            count.workers[cause.worker or "the run"] += 1
            if cause.kind not in seen:
                count.teams[as_text(run.get("team"), 80) or "?"] += 1
                count.users.update(filter(None, [as_text(run.get("user"), 80)]))
            seen.add(cause.kind)
        for pair in set(_list_conflicts(trace)):
            self.conflicts.setdefault(pair, []).append(thread)

    def to_json(self) -> dict[str, Any]:
        """Return it as one JSON object, the most frequent causes first."""
        ranked = sorted(self.causes.values(), key=lambda each: (-each.runs, each.kind))
        pairs = sorted(self.conflicts.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        return {
            "runs": self.runs,
            "failed": self.failed,
            "unreadable": self.unreadable,
            "causes": [dict(vars(each)) for each in ranked],
            "conflicts": [
                {"workers": list(pair), "runs": len(threads), "example": threads[0]}
                for pair, threads in pairs
            ],
        }


def _list_conflicts(trace: Json) -> Iterator[tuple[str, str]]:
    """Yield the pairs of workers whose claims contradict each other in the last answer."""
    writers: dict[tuple[str, str], str] = {}
    for task in map(as_map, as_list(trace.get("tasks"))):
        report = as_map(task.get("report"))
        for claim in map(as_map, as_list(report.get("claims"))):
            writers.setdefault(_name_claim(claim), as_text(report.get("worker"), 80))
    events = (e for e in map(as_map, as_list(trace.get("events"))) if not e.get("within"))
    answers = [as_map(e.get("answer")) for e in events if e.get("kind") == "answer"]
    for found in as_list(answers[-1].get("contradictions")) if answers else ():
        claims = as_list(as_map(found).get("claims"))[:MAX_CONFLICT_CLAIMS]
        known = (writers.get(_name_claim(as_map(claim)), "") for claim in claims)
        yield from combinations(sorted(filter(None, known)), 2)


def _name_claim(claim: Json) -> tuple[str, str]:
    return str(claim.get("text")), str(claim.get("source"))


def count_failures(
    threads: Iterable[str], load_trace: Callable[[str], Json], is_wanted: Callable[[Json], bool]
) -> Failures:
    """Count the causes over threads; of a trace that cannot be read only the thread is kept."""
    found = Failures()
    for thread in threads:
        try:
            trace = load_trace(thread)
            if is_wanted(as_map(trace.get("run"))):
                found.add(thread, trace, explain(trace))
        except TraceUnreadable:
            found.unreadable.append(thread)
        except ThreadUnknown:  # another process has just removed it
            continue
    return found


def show_failures(since: str, team: str | None, runs: Runs, *, as_json: bool) -> int:
    """Print the causes of the failures of some time, the most frequent first; return 0.

    Raises:
        UsageError: the time is none.
        ServerError: the server cannot be used.
    """
    begin_s, threads = time.time() - parse_age(since), runs.list_threads()
    if isinstance(runs, RunsHere):
        threads = [each for each in threads if _read_age(runs, each) >= begin_s]

    def is_wanted(run: Json) -> bool:
        is_recent = isinstance(runs, RunsHere) or _read_start(run) >= begin_s
        return is_recent and team in (None, run.get("team"))

    found = count_failures(threads, runs.load_trace, is_wanted)
    if as_json:
        print_json({"since": since, "team": team, **found.to_json()})
        return 0
    _print_failures(found.to_json(), since)
    for thread in found.unreadable[:5]:
        print_to_stderr(f"the trace of {thread} cannot be read, and is not counted", style="yellow")
    if (more := len(found.unreadable) - 5) > 0:
        print_to_stderr(f"and {format_count(more, 'more trace')}: --json lists all", style="yellow")
    return 0


def _read_age(runs: RunsHere, thread: str) -> float:
    try:
        return get_log_path(thread, runs.settings).stat().st_mtime
    except OSError:
        return 0.0


def _read_start(run: Json) -> float:
    """Return the second of a run's start; of an unknown one, now: it is not left out."""
    try:
        return datetime.fromisoformat(str(run.get("started"))).timestamp()
    except ValueError:
        return time.time()


def _print_failures(found: Json, since: str) -> None:
    counted = f"{format_count(found['runs'], 'run')} since {since} ago"
    print_text(f"{counted}, {found['failed']} of them with a cause of failure.")
    rows = [
        (
            str(each["runs"]),
            str(each["lost"]),
            f"{get_fault_kind(each['kind']).words.format(tool='of a worker')} ({each['kind']})",
            _name_most(each["teams"]),
            _name_most(each["workers"]),
            each["example"],
        )
        for each in found["causes"]
    ]
    if rows:
        print_listing(rows, ("RUNS", "TASKS LOST", "CAUSE", "TEAMS", "WORKERS", "EXAMPLE"))
        print_to_stderr("next: supervise why THREAD", style="dim")
    for each in found["conflicts"]:
        pair, count = " and ".join(each["workers"]), format_count(each["runs"], "run")
        print_text(f"conflict: {pair} contradict each other in {count}, such as {each['example']}")


def _name_most(counts: dict[str, int]) -> str:
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count}" for name, count in ranked[:3])
