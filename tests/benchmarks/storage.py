"""Measure what a full database costs at the start: what opening it takes.

    python -m tests.benchmarks.storage [--threads 1000] [--checkpoints 10]

The full database holds threads of checkpoints of 15 kB. What a task's run takes in a database, the
performance benchmark measures.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint

from graph.runs.run_store import open_database
from graph.settings import Settings
from graph.stores.sqlite import open_saver
from tests.benchmarks.options import read_options

CHECKPOINT_BYTES = 15_000


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
    parser.add_argument("--threads", type=int, default=1000)
    parser.add_argument("--checkpoints", type=int, default=10)
    asyncio.run(print_measurements(read_options(parser, "threads", "checkpoints")))


if __name__ == "__main__":
    main()
