"""The figures of a load: right runs, waiting times, throughput, and what a run costs."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tests.cluster.load_clients import LoadRun
from tests.cluster.load_watch import Totals, Watch, compute_growth

MEGABYTE = 1e6


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
    redis_mb: float
    connections: int
    files: int
    """Open file handles of an instance, at most."""
    slow_answer_ms: float
    """99th percentile of what an instance took to answer `/live`."""


def compute_figures(
    name: str, runs: Sequence[LoadRun], watch: Watch, *, slots: int, limit_s: float
) -> LoadFigures:
    """Return the figures of a load whose runs take `limit_s` each in one of `slots` places."""
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
        throughput=(count / seconds) / (slots / limit_s),
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
        redis_mb=max(sample.redis_bytes for sample in samples) / MEGABYTE,
        connections=max(sample.connections for sample in samples),
        files=max(max(sample.files) for sample in samples),
        slow_answer_ms=answers[int(0.99 * len(answers))] * 1000,
    )


def format_figures(loads: Sequence[LoadFigures]) -> str:
    """Return a Markdown table with a column for each load."""
    lines = [
        ("runs, right", [f"{one.runs}, {one.right}" for one in loads]),
        ("throughput over the limit of slots and endpoint", _list(loads, "throughput", ".2f")),
        (
            "seconds to the end: median, 95 %, longest",
            [", ".join(f"{wait:.0f}" for wait in one.waited_s) for one in loads],
        ),
        ("slowest client's wait over the fastest one's", _list(loads, "unfairness", ".1f")),
        ("memory of an instance at most, MB", [f"{max(one.memory_mb):.0f}" for one in loads]),
        ("its growth, last third over middle third", _list(loads, "memory_growth", "+.1%")),
        ("processor ms a run: instances", _list(loads, "instance_ms", ".0f")),
        ("processor ms a run: PostgreSQL", _list(loads, "postgres_ms", ".0f")),
        ("processor ms a run: Redis", _list(loads, "redis_ms", ".0f")),
        ("database kB a run", _list(loads, "database_kb", ".0f")),
        ("write-ahead log kB a run", _list(loads, "log_kb", ".0f")),
        ("transactions a run", _list(loads, "transactions", ".0f")),
        ("Redis at most, MB", _list(loads, "redis_mb", ".1f")),
        ("connections to the database at most", _list(loads, "connections", "d")),
        ("file handles of an instance at most", _list(loads, "files", "d")),
        ("answer of `/live`, 99 %, ms", _list(loads, "slow_answer_ms", ".0f")),
    ]
    head = ["", *(one.name for one in loads)]
    table = [head, ["---"] * len(head), *([label, *cells] for label, cells in lines)]
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


def _list(loads: Sequence[LoadFigures], name: str, form: str) -> list[str]:
    return [format(getattr(one, name), form) for one in loads]
