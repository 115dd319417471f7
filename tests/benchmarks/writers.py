"""Many writers: one thread wanted by many processes, and many threads on one database.

    python -m tests.benchmarks.writers [--processes 8] [--threads 20] [--postgres]

Of the processes one runs and the others are refused; of the threads all are done. An update is lost
when a task is missing from the end, or was worked at twice.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph import arun
from graph.settings import Settings
from tests import postgres_server
from tests.benchmarks.at_endpoint import build_variables
from tests.benchmarks.options import read_options
from tests.endpoint import Scenario, script_tasks
from tests.endpoint.process import EndpointProcess, run_endpoint_process
from tests.teams import make_team

CHAIN = {"A": (), "B": ("A",), "C": ("A",), "D": ("B", "C")}
CONTENDER_PROGRAM = """
import json, sys, time
from graph import run
from nodes.errors import SupervisorError
from tests.teams import make_team
print("ready", flush=True)
sys.stdin.readline()
began = time.monotonic()
try:
    outcome = run("Compare the parts.", team=make_team(), thread="wanted")
    told = {"code": outcome.exit_code, "tasks": len(outcome.results)}
except SupervisorError as error:
    told = {"code": error.exit_code, "tasks": 0}
print(json.dumps({**told, "seconds": time.monotonic() - began}))
"""


@dataclass(frozen=True)
class ContestResult:
    """How it went for the processes that wanted one thread."""

    ran: int
    refused: int
    slowest_refusal_s: float
    lost_updates: int


def run_contest(processes: int, folder: Path, database: str) -> ContestResult:
    """Let processes begin on one thread at the same moment."""
    with run_endpoint_process(
        Scenario(tasks=script_tasks(CHAIN, latency_s=dict.fromkeys(CHAIN, 1.0)))
    ) as served:
        children = [_start_contender(folder, served, database) for _ in range(processes)]
        for child in children:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
        result = _start_together(children)
        calls = served.fetch_records()["calls"]
    worked = Counter(call["task"] for call in calls if call["schema"] == "Report")
    ran = [one for one in result if one["code"] == 0]
    refused = [one for one in result if one["code"] == 6]
    missing = sum(len(CHAIN) - one["tasks"] for one in ran)
    return ContestResult(
        ran=len(ran),
        refused=len(refused),
        slowest_refusal_s=max((one["seconds"] for one in refused), default=0.0),
        lost_updates=missing + sum(worked.values()) - len(CHAIN) * len(ran),
    )


def _start_together(children: "Sequence[subprocess.Popen[str]]") -> list[dict[str, Any]]:
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    return [json.loads(child.communicate(timeout=120)[0]) for child in children]


def _start_contender(
    folder: Path, served: EndpointProcess, database: str
) -> "subprocess.Popen[str]":
    environment = build_variables(folder, served.base_url, database)
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", CONTENDER_PROGRAM],
        cwd=folder,
        env=environment,
        stdin=pipe,
        stdout=pipe,
        text=True,
    )


async def run_crowd(threads: int, folder: Path, database: str) -> tuple[Counter[str], float]:
    """Run many threads at once on one database; give how they ended, and the seconds taken."""
    with run_endpoint_process(
        Scenario(tasks=script_tasks(CHAIN, latency_s=dict.fromkeys(CHAIN, 0.2)))
    ) as served:
        settings = Settings(
            openai_base_url=served.base_url,
            openai_api_key="sk-writers",
            database_url=database or f"sqlite:///{folder / 'runs.sqlite'}",
            max_concurrency=200,
        )
        began = time.monotonic()
        outcomes = await asyncio.gather(
            *(
                arun("Compare the parts.", team=make_team(), settings=settings, thread=f"t{index}")
                for index in range(threads)
            ),
            return_exceptions=True,
        )
    ended = (one if isinstance(one, BaseException) else one.error or one.status for one in outcomes)
    return Counter(map(str, ended)), time.monotonic() - began


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--threads", type=int, default=20)
    parser.add_argument("--postgres", action="store_true")
    options = read_options(parser, "processes", "threads")
    with (
        postgres_server.run_server() if options.postgres else nullcontext() as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        url = server.build_url() if server else ""
        found = run_contest(options.processes, Path(folder), url)
        ended, taken_s = asyncio.run(run_crowd(options.threads, Path(folder), url))
    where = "PostgreSQL" if options.postgres else "SQLite"
    print(
        f"{where}, one thread wanted by {options.processes} processes: {found.ran} ran, "
        f"{found.refused} refused within {found.slowest_refusal_s:.2f} s, "
        f"{found.lost_updates} updates lost"
    )
    print(f"{where}, {options.threads} threads at once: {dict(ended)} in {taken_s:.1f} s")
    is_right = found.ran == 1 and found.refused == options.processes - 1 and not found.lost_updates
    sys.exit(not (is_right and ended == {"done": options.threads}))


if __name__ == "__main__":
    main()
