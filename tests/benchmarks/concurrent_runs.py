"""Run many requests at once in one process: is each right, and what memory does one take.

    python -m tests.benchmarks.concurrent_runs [--runs 200] [--tasks 5] [--store sqlite|memory]

The endpoint runs in a process of its own. A run is right when it is done, each task has its own
result, and nobody was asked twice.
"""

import argparse
import asyncio
import gc
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from graph import arun, build_supervisor
from graph.runs.run_store import build_strict_serializer
from graph.settings import Settings
from tests.endpoint import Scenario, ScriptedTask
from tests.endpoint.process import run_endpoint_process
from tests.teams import make_team

MODELS = dict.fromkeys(("model_fast", "model_standard", "model_strong"), "openai:gpt-5-mini")
LATENCY_S = 0.2


def make_scenario(tasks: int) -> Scenario:
    """Tasks of which the last needs all others."""
    names = [f"t{index}" for index in range(tasks)]
    parts = tuple(ScriptedTask(id=name, latency_s=LATENCY_S) for name in names[:-1])
    last = ScriptedTask(id=names[-1], depends_on=tuple(names[:-1]), latency_s=LATENCY_S)
    return Scenario(tasks=(*parts, last), latency_s={"*": LATENCY_S})


async def measure_runs(runs: int, tasks: int, store: str, *, max_concurrency: int) -> bool:
    """Print how it went, and say whether all was right."""
    with (
        run_endpoint_process(make_scenario(tasks)) as served,
        tempfile.TemporaryDirectory() as name,
    ):
        settings = Settings(
            openai_base_url=served.base_url,
            openai_api_key="sk-many",
            database_url=f"sqlite:///{Path(name) / 'runs.sqlite'}",
            max_concurrency=max_concurrency,
            call_timeout_s=60,
            **MODELS,
        )
        start = _build_starter(settings, store)
        await start("warm-up")
        gc.collect()
        before_kib, tasks_before = _read_peak_kib(), len(asyncio.all_tasks())
        began_s = time.perf_counter()
        ended = await asyncio.gather(
            *(start(f"run-{index}") for index in range(runs)), return_exceptions=True
        )
        seconds = time.perf_counter() - began_s
        right = sum(_is_right(outcome, tasks) for outcome in ended)
        calls = len(served.fetch_records()["calls"]) - (tasks + 2)
        _print_wrong_runs(ended, tasks)
        left = len(asyncio.all_tasks()) - tasks_before
        print(f"{right} of {runs} runs right, {store}, {tasks} tasks each, in {seconds:.1f} s")
        print(f"{(_read_peak_kib() - before_kib) / runs:,.0f} KiB a run at the peak")
        print(f"{calls} calls for {runs * (tasks + 2)} that are needed; {left} tasks left over")
        print(
            f"most calls in flight: {served.fetch_records()['max_in_flight']} of {max_concurrency}"
        )
        return right == runs and left == 0 and calls == runs * (tasks + 2)


def _build_starter(settings: Settings, store: str) -> Any:
    if store == "sqlite":

        async def kept(thread: str) -> Any:
            return await arun(
                "Compare the parts.", team=make_team(), settings=settings, thread=thread
            )

        return kept
    saver = InMemorySaver(serde=build_strict_serializer())
    graph = build_supervisor(make_team(), settings=settings, checkpointer=saver)

    async def bare(thread: str) -> Any:
        config: Any = {"configurable": {"thread_id": thread}}
        return await graph.ainvoke({"request": "Compare the parts."}, config)

    return bare


def _is_right(outcome: Any, tasks: int) -> bool:
    if isinstance(outcome, BaseException):
        return False
    found = outcome if isinstance(outcome, dict) else vars(outcome)
    reports = found["results"]
    return found["status"] == "done" and all(
        f"part t{index} " in reports[f"t{index}"].output for index in range(tasks)
    )


def _print_wrong_runs(ended: list[Any], tasks: int) -> None:
    wrong = [outcome for outcome in ended if not _is_right(outcome, tasks)]
    for outcome in wrong[:5]:
        print(f"wrong: {str(outcome)[:500]}")


def _read_peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=5)
    parser.add_argument("--store", choices=("sqlite", "memory"), default="sqlite")
    parser.add_argument("--max-concurrency", type=int, default=100)
    options = parser.parse_args()
    is_right = asyncio.run(
        measure_runs(
            options.runs, options.tasks, options.store, max_concurrency=options.max_concurrency
        )
    )
    sys.exit(not is_right)


if __name__ == "__main__":
    main()
