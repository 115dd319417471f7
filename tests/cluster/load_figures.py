"""The figures of a load: right runs, waiting times, throughput, and what a run costs."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tests.benchmarks.performance.limits import compute_limit_s
from tests.cluster.load_clients import LoadRun
from tests.cluster.load_watch import Totals, Watch, compute_growth
from tests.endpoint import Scenario

MEGABYTE: Final = 1e6


@dataclass(frozen=True)
class LoadFigures:
    """What a load has shown."""

    name: str
    runs: int
    right: int
    problems: tuple[str, ...]
    seconds: float
    throughput: float
    """Runs a second over what the slots and the endpoint's latency allow; 1 is the limit."""
    waited_s: tuple[float, float, float]
    """Seconds until a run's end: median, 95th percentile, longest."""
    unfairness: float
    """The mean wait of the client that waited longest over that of the one that waited least."""
    memory_mb: tuple[float, ...]
    """Of each instance, at most."""
    memory_growth: float
    """Last third over middle third of the load; the highest of the instances."""
    instance_ms: float
    """Processor time of all instances, a run."""
    postgres_ms: float
    redis_ms: float
    database_kb: float
    """Tables and indexes, a run."""
    log_kb: float
    transactions: float
    """A run."""
    redis_kb: float
    """What a run leaves in Redis, which forgets it ten minutes after its last event."""
    connections: int
    files: int
    """Open file handles of an instance, at most."""
    slow_answer_ms: float
    """99th percentile of what an instance took to answer `/live`."""
    tasks: int
    """Of each run."""


def _format_postgres_share(one: LoadFigures) -> str:
    return f"{one.postgres_ms / one.instance_ms:.2f}"


Row = tuple[str, Callable[[LoadFigures], str]]
"""A line of a table: its label, and the cell of a load."""

LOAD_ROWS: Final[tuple[Row, ...]] = (
    ("runs, right", lambda one: f"{one.runs}, {one.right}"),
    ("throughput over the limit of slots and endpoint", lambda one: f"{one.throughput:.2f}"),
    (
        "seconds to the end: median, 95 %, longest",
        lambda one: ", ".join(f"{wait:.0f}" for wait in one.waited_s),
    ),
    ("longest mean wait of a client over the shortest", lambda one: f"{one.unfairness:.1f}"),
    ("memory of an instance at most, MB", lambda one: f"{max(one.memory_mb):.0f}"),
    ("its growth, last third over middle third", lambda one: f"{one.memory_growth:+.1%}"),
    ("processor ms a run: instances", lambda one: f"{one.instance_ms:.0f}"),
    ("processor ms a run: PostgreSQL", lambda one: f"{one.postgres_ms:.0f}"),
    ("processor ms a run: Redis", lambda one: f"{one.redis_ms:.0f}"),
    ("database kB a run", lambda one: f"{one.database_kb:.0f}"),
    ("connections to the database at most", lambda one: f"{one.connections}"),
    ("file handles of an instance at most", lambda one: f"{one.files}"),
    ("answer of `/live`, 99 %, ms", lambda one: f"{one.slow_answer_ms:.0f}"),
)
SIZE_ROWS: Final[tuple[Row, ...]] = (
    ("runs, right", lambda one: f"{one.runs}, {one.right}"),
    ("processor ms a run", lambda one: f"{one.instance_ms:.0f}"),
    ("processor ms a task", lambda one: f"{one.instance_ms / one.tasks:.1f}"),
    ("runs an hour that one core carries", lambda one: f"{3.6e6 / one.instance_ms:,.0f}"),
    ("PostgreSQL's processor over the instance's", _format_postgres_share),
    ("transactions a run", lambda one: f"{one.transactions:.0f}"),
    ("database kB a run", lambda one: f"{one.database_kb:.0f}"),
    ("database kB a task", lambda one: f"{one.database_kb / one.tasks:.1f}"),
    ("write-ahead log kB a run", lambda one: f"{one.log_kb:.0f}"),
    ("Redis kB a run, for ten minutes", lambda one: f"{one.redis_kb:.0f}"),
)
SLOT_ROWS: Final[tuple[Row, ...]] = (
    ("runs, right", lambda one: f"{one.runs}, {one.right}"),
    ("throughput over the limit of slots and endpoint", lambda one: f"{one.throughput:.2f}"),
    ("runs a second", lambda one: f"{one.runs / one.seconds:.1f}"),
    ("share of a core", lambda one: f"{one.instance_ms * one.runs / one.seconds / 1000:.2f}"),
    ("answer of `/live`, 99 %, ms", lambda one: f"{one.slow_answer_ms:.0f}"),
    ("memory at most, MB", lambda one: f"{max(one.memory_mb):.0f}"),
    ("connections to the database at most", lambda one: f"{one.connections}"),
    ("file handles at most", lambda one: f"{one.files}"),
)


def compute_figures(
    name: str, runs: Sequence[LoadRun], watch: Watch, scenario: Scenario, slots: int
) -> LoadFigures:
    """Return the figures of a load of which `slots` runs are worked on at once."""
    seconds = max(run.ended_s for run in runs) - min(run.wanted_s for run in runs)
    waited = sorted(run.waited_s for run in runs)
    samples, count = watch.samples, len(runs)
    spent = subtract_totals(watch.before, watch.after)
    by_instance = list(zip(*(sample.memory for sample in samples), strict=True))
    answers = sorted(taken for sample in samples for taken in sample.answered_s)
    return LoadFigures(
        name=name,
        runs=count,
        right=sum(run.is_right for run in runs),
        problems=tuple(dict.fromkeys(run.problem for run in runs if run.problem)),
        seconds=seconds,
        throughput=(count / seconds) / (min(slots, count) / compute_limit_s(scenario)),
        waited_s=(statistics.median(waited), waited[int(0.95 * count)], waited[-1]),
        unfairness=_compute_unfairness(runs),
        memory_mb=tuple(max(series) / MEGABYTE for series in by_instance),
        memory_growth=max(compute_growth(series) for series in by_instance),
        instance_ms=sum(spent.instances_s) * 1000 / count,
        postgres_ms=spent.postgres_s * 1000 / count,
        redis_ms=spent.redis_s * 1000 / count,
        database_kb=spent.database_bytes / 1000 / count,
        log_kb=spent.log_bytes / 1000 / count,
        transactions=spent.transactions / count,
        redis_kb=(samples[-1].redis_bytes - samples[0].redis_bytes) / 1000 / count,
        connections=max(sample.connections for sample in samples),
        files=max(max(sample.files) for sample in samples),
        slow_answer_ms=answers[int(0.99 * len(answers))] * 1000,
        tasks=len(scenario.tasks),
    )


def format_figures(loads: Sequence[LoadFigures], rows: Sequence[Row]) -> str:
    """Return a Markdown table with a column for each load."""
    head = ("", *(one.name for one in loads))
    table = [head, ("---",) * len(head), *((label, *map(cell, loads)) for label, cell in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in table)


def subtract_totals(before: Totals, after: Totals) -> Totals:
    """Return what happened between two measurements."""
    pairs = zip(before.instances_s, after.instances_s, strict=True)
    return Totals(
        instances_s=tuple(later - earlier for earlier, later in pairs),
        postgres_s=after.postgres_s - before.postgres_s,
        redis_s=after.redis_s - before.redis_s,
        database_bytes=after.database_bytes - before.database_bytes,
        transactions=after.transactions - before.transactions,
        log_bytes=after.log_bytes - before.log_bytes,
    )


def _compute_unfairness(runs: Sequence[LoadRun]) -> float:
    waits: dict[int, list[float]] = {}
    for run in runs:
        waits.setdefault(run.client, []).append(run.waited_s)
    means = [statistics.mean(each) for each in waits.values()]
    return max(means) / min(means)
