"""Count what it costs when PostgreSQL is restarted again and again under running runs.

    python -m tests.benchmarks.restarts [--runs 60] [--at-once 6] [--seed 1]

The server is stopped as by a crash and started again every five to seven seconds, while runs of six
tasks follow one another. A run is lost when neither it nor one resume of it ends right.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from graph import aresume, arun
from graph.settings import Settings
from nodes.errors import SupervisorError
from tests import postgres_server
from tests.benchmarks.options import read_options
from tests.benchmarks.performance.plans import make_random_plan
from tests.endpoint.process import EndpointProcess, run_endpoint_process
from tests.teams import make_team

NEEDS = "PostgreSQL"
"""What must be installed; the tests read only the options of such a program."""

TASKS = 6
RESTART_INTERVAL_S = (5.0, 7.0)


@dataclass
class RestartCounts:
    """What happened to the runs."""

    restarts: int = 0
    done: int = 0
    errors: list[str] = field(default_factory=list)
    """Of runs that ended with one, and were then resumed."""
    lost: list[str] = field(default_factory=list)


async def measure_restarts(
    runs: int, *, at_once: int, seed: int
) -> tuple[RestartCounts, Counter[str]]:
    """Run many while the server is restarted; give the counts, and the calls for each task."""
    count, places = RestartCounts(), asyncio.Semaphore(at_once)
    scenario = make_random_plan(TASKS, seed=seed, mean_s=0.3, max_depth=4)
    with (
        postgres_server.run_server() as server,
        run_endpoint_process(scenario) as served,
        tempfile.TemporaryDirectory() as folder,
    ):
        settings = _make_settings(served, server.build_url(), Path(folder))
        restarting = asyncio.create_task(_restart_repeatedly(server, count, random.Random(seed)))

        async def one(index: int) -> None:
            async with places:
                await _run_one(f"run-{index}", settings, count)

        await asyncio.gather(*(one(index) for index in range(runs)))
        restarting.cancel()
        await asyncio.gather(restarting, return_exceptions=True)
        calls = served.fetch_records()["calls"]
    return count, Counter(call["task"] for call in calls if call["schema"] == "Report")


async def _run_one(thread: str, settings: Settings, count: RestartCounts) -> None:
    try:
        outcome = await arun(
            "Compare the parts.", team=make_team(), settings=settings, thread=thread
        )
        problem = str(outcome.error or "")
        if outcome.error:
            outcome = await aresume(thread, settings=settings)
    except SupervisorError as error:  # it never began; the request is made once more
        problem = str(error)
        outcome = await arun(
            "Compare the parts.", team=make_team(), settings=settings, thread=thread
        )
    if problem:
        count.errors.append(problem)
    if outcome.status == "done" and len(outcome.results) == TASKS:
        count.done += 1
    else:
        count.lost.append(f"{thread}: {outcome.status}: {outcome.error}")


async def _restart_repeatedly(
    server: postgres_server.PostgresServer, count: RestartCounts, draw: random.Random
) -> None:
    while True:
        await asyncio.sleep(draw.uniform(*RESTART_INTERVAL_S))
        # Not to be cut off between stop and start.
        await asyncio.shield(asyncio.to_thread(server.restart))
        count.restarts += 1


def _make_settings(served: EndpointProcess, url: str, folder: Path) -> Settings:
    names = dict.fromkeys(("model_fast", "model_standard", "model_strong"), "openai:gpt-5-mini")
    return Settings(
        openai_base_url=served.base_url,
        openai_api_key="sk-benchmark",
        database_url=url,
        max_concurrency=200,
        **names,
    )


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--at-once", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    options = read_options(parser, "runs", "at_once")
    count, calls = asyncio.run(
        measure_restarts(options.runs, at_once=options.at_once, seed=options.seed)
    )
    print(
        f"{options.runs} runs, {options.at_once} at once, {count.restarts} restarts of the server"
    )
    print(f"{count.done} done, {len(count.lost)} lost, {len(count.errors)} visible errors")
    print(f"{sum(calls.values()) - TASKS * options.runs} of {TASKS * options.runs} tasks run again")
    for line in (*count.errors[:5], *count.lost):
        print(line)
    sys.exit(bool(count.lost))


if __name__ == "__main__":
    main()
