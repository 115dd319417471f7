"""Measure what a viewer costs a run, and what memory the live page takes.

    python -m tests.pages.measure [--tasks 40] [--runs 20] [--server dev|aegra]

The server has a processor core of its own, as a browser works on its viewer's machine.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.endpoint.process import run_endpoint_process
from tests.pages import scenarios, servers
from tests.pages.__main__ import run_driver

RESAMPLES: Final = 10_000


def main() -> int:
    """Print the figures; return 1 if they could not be measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--task-seconds", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--server", choices=servers.NAMES, default="dev")
    parser.add_argument("--screenshots", type=Path, default=Path("build/pages"))
    options = parser.parse_args()
    options.screenshots.mkdir(parents=True, exist_ok=True)
    scenario = scenarios.build_wide(options.tasks, task_s=options.task_seconds)
    own, others = _share_cores(os.sched_getaffinity(0))
    with (
        tempfile.TemporaryDirectory() as folder,
        _started_on(others),
        run_endpoint_process(scenario) as endpoint,
        _started_on(own),
        servers.run_server(options.server, Path(folder), endpoint.base_url) as server,
        _started_on(others),
    ):
        given = {
            **server,
            "name": f"{options.tasks}-tasks",
            "screenshots": str(options.screenshots.resolve()),
            "request": scenarios.REQUEST,
            "runs": options.runs,
        }
        is_right, said = run_driver("measure.mjs", given)
    print(said)
    if is_right and options.runs:
        seconds = dict(json.loads(said)["steps"])["seconds"]
        print(describe_ratio(seconds["watched"], seconds["alone"]))
    return int(not is_right)


def describe_ratio(watched: Sequence[float], alone: Sequence[float]) -> str:
    """Return the median ratio of neighbouring runs, with its 95 % interval (bootstrap)."""
    ratios = [seen / unseen for seen, unseen in zip(watched, alone, strict=True)]
    chance = random.Random(17)
    medians = sorted(
        statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES)
    )
    low, high = medians[RESAMPLES // 40], medians[-RESAMPLES // 40]
    return (
        f"watched over alone, {len(ratios)} pairs: median {statistics.median(ratios):.4f}, "
        f"95 % interval {low:.4f} to {high:.4f}"
    )


def _share_cores(cores: set[int]) -> tuple[set[int], set[int]]:
    """Return the server's core, and those of the browser and the endpoint."""
    first, *others = sorted(cores)
    return {first}, set(others) or {first}


@contextmanager
def _started_on(cores: set[int]) -> Iterator[None]:
    """Let processes that start in the body work on some cores only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


if __name__ == "__main__":
    sys.exit(main())
