"""Measure what a record costs a run, and how fast it is replayed.

    python -m tests.benchmarks.recording [--rounds 10] [--plans cascade,random-40,wide-100]

Each round runs a plan twice against the endpoint simulator, which is a process of its own: with a
record and without, in turn first. Printed are the ratio of their seconds (median, and the interval
of 95 % by 2,000 resamples of the rounds), that of the processor's seconds, the bytes of the record
beside all that the run stores, and the seconds of a replay beside those of the run.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from extensions.replay.record_file import read_record
from extensions.replay.replayer import replay_record
from graph.runs.runner import arun
from graph.runs.trace import get_record_path
from nodes.schemas.team import Team, Worker
from state import Context
from tests.benchmarks.at_endpoint import build_settings
from tests.benchmarks.options import read_options
from tests.benchmarks.performance.plans import make_plan
from tests.endpoint.process import EndpointProcess, run_endpoint_process

RESAMPLES = 2_000
WORKERS = ("researcher", "analyst", "writer")


@dataclass(frozen=True)
class Timed:
    """One run."""

    seconds: float
    processor_s: float
    stored_bytes: int
    record_bytes: int = 0
    replay_s: float = 0.0
    is_equal: bool = True


async def _run(served: EndpointProcess, folder: Path, tasks: int, *, is_recorded: bool) -> Timed:
    team = Team(
        name="parts",
        description="Describes parts.",
        guidance="Give each part to a worker.",
        workers=tuple(
            Worker(name=name, description="Describes parts.", instructions="Describe the part.")
            for name in WORKERS
        ),
        max_tasks=max(20, tasks),
        max_steps=10 * tasks,
        max_depth=100,
    )
    settings = build_settings(folder, served.base_url, max_concurrency=1_000, record=is_recorded)
    began_s, used_s = time.perf_counter(), time.process_time()
    request, context = "Compare the parts.", Context(critic="off")
    outcome = await arun(request, team=team, settings=settings, context=context)
    seconds, processor_s = time.perf_counter() - began_s, time.process_time() - used_s
    assert outcome.status == "done", outcome.error
    stored = await asyncio.to_thread(_measure_bytes, folder)
    if not is_recorded:
        return Timed(seconds, processor_s, stored)
    path = get_record_path(outcome.thread, settings)
    replayed = await asyncio.to_thread(lambda: replay_record(read_record(path)))
    size, is_equal = path.stat().st_size, replayed.is_equal
    return Timed(seconds, processor_s, stored, size, replayed.seconds, is_equal)


def _measure_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure_plan(name: str, rounds: int) -> None:
    """Print the figures of one plan."""
    scenario = make_plan(name)
    with run_endpoint_process(scenario) as served:
        pairs = list[tuple[Timed, Timed]]()
        for number in range(rounds + 1):
            timed = dict[bool, Timed]()
            for is_recorded in (True, False) if number % 2 else (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    work = _run(served, Path(folder), len(scenario.tasks), is_recorded=is_recorded)
                    timed[is_recorded] = asyncio.run(work)
            if number:  # the first warms up
                pairs.append((timed[True], timed[False]))
    kept, plain = ([pair[side] for pair in pairs] for side in (0, 1))
    wall = [one.seconds / other.seconds for one, other in pairs]
    processor = [one.processor_s / other.processor_s for one, other in pairs]
    stored = statistics.median(one.stored_bytes / other.stored_bytes for one, other in pairs)
    replay_s = statistics.median(one.replay_s for one in kept)
    run_s, size = statistics.median(one.seconds for one in plain), kept[0].record_bytes
    print(
        f"{name}: seconds {_format_ratio(wall)}, processor {_format_ratio(processor)}, stored "
        f"{stored:.3f} times; record {size / 1000:.0f} kB; run {run_s:.2f} s, replay "
        f"{replay_s:.3f} s, {run_s / replay_s:.1f} times as fast; "
        f"{sum(one.is_equal for one in kept)} of {len(kept)} equal",
        flush=True,
    )


def _format_ratio(ratios: Sequence[float]) -> str:
    draw = random.Random(1)
    medians = sorted(
        statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES)
    )
    low, high = medians[RESAMPLES // 40], medians[-RESAMPLES // 40]
    return f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    """Print the figures of each plan."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--plans", default="cascade,random-40,wide-100,wide-1000")
    options = read_options(parser, "rounds")
    for name in options.plans.split(","):
        measure_plan(name, options.rounds)


if __name__ == "__main__":
    main()
