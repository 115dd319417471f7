"""Measure what runs take on disk, and what a full database costs at the start.

    python -m tests.benchmarks.storage [--tasks 40] [--threads 1000] [--checkpoints 10]

Bytes are those of the SQLite file and of the journal; a task's report is as long as the endpoint
makes it. The full database holds threads of checkpoints of 15 kB.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint

from graph import arun
from graph.runs.run_store import open_database, open_saver
from graph.runs.trace import get_log_path
from graph.settings import Settings
from tests.benchmarks.dispatch import make_random_scenario
from tests.endpoint.process import run_endpoint_process
from tests.teams import make_team

CHECKPOINT_BYTES = 15_000


async def measure_bytes_per_task(tasks: int, folder: Path) -> tuple[float, float]:
    """Return what one task of a run adds to the database, and to the journal."""
    with run_endpoint_process(make_random_scenario(tasks, seed=7, mean_s=0.1)) as served:
        settings = Settings(
            openai_base_url=served.base_url,
            openai_api_key="sk-storage",
            database_url=f"sqlite:///{folder / 'runs.sqlite'}",
        )
        await arun("Compare the parts.", team=make_team(), settings=settings, thread="one")
    journal = get_log_path("one", settings).stat().st_size
    return settings.resolve_database_path().stat().st_size / tasks, journal / tasks


async def fill_database(path: Path, threads: int, checkpoints: int) -> None:
    """Make a database of many threads."""
    values = {"text": "x" * CHECKPOINT_BYTES}
    async with open_saver(path) as saver:
        for thread in range(threads):
            at: Any = {"configurable": {"thread_id": f"t{thread}", "checkpoint_ns": ""}}
            saved = [
                saver.aput(at, empty_checkpoint() | {"channel_values": values}, {"step": step}, {})
                for step in range(checkpoints)
            ]
            await asyncio.gather(*saved)


async def measure_opening_s(settings: Settings, repeat: int = 5) -> float:
    """Return the time from the lock to the open database, the median of some."""
    taken = []
    for index in range(repeat):
        began = time.perf_counter()
        async with open_database(f"new-{index}", settings):
            taken.append(time.perf_counter() - began)
    return statistics.median(taken)


async def print_measurements(options: argparse.Namespace) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        kept, result = await measure_bytes_per_task(options.tasks, Path(folder))
    print(
        f"a task takes {kept / 1000:.1f} kB in the database and {result / 1000:.1f} kB of journal"
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(database_url=f"sqlite:///{folder}/runs.sqlite")
        empty_s = await measure_opening_s(settings)
        await fill_database(settings.resolve_database_path(), options.threads, options.checkpoints)
        full_s = await measure_opening_s(settings)
        size = settings.resolve_database_path().stat().st_size
    count = options.threads * options.checkpoints
    print(f"opening an empty database {empty_s * 1000:.0f} ms")
    full = f"{options.threads:,} threads and {count:,} checkpoints, {size / 1e6:.0f} MB"
    print(f"opening one of {full}: {full_s * 1000:.0f} ms")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1000)
    parser.add_argument("--checkpoints", type=int, default=10)
    asyncio.run(print_measurements(parser.parse_args()))


if __name__ == "__main__":
    main()
