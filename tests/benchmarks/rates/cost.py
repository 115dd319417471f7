"""What shared rates cost: the same plan with and without them, in turn."""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

from graph import build_supervisor
from graph.settings import Settings
from tests.endpoint import Scenario, run_endpoint_process, script_tasks

TASKS: Final = 40
ROUNDS: Final = 15


def measure_cost(redis_url: str) -> str:
    """Return one line: the median time of a plan without Redis, with it, and their ratio."""
    parts = script_tasks({f"T{number}": () for number in range(TASKS)})
    with (
        run_endpoint_process(Scenario(tasks=parts)) as endpoint,
        tempfile.TemporaryDirectory() as folder,
    ):
        common = {
            "openai_base_url": endpoint.base_url,
            "openai_api_key": "sk-test-0123456789abcdef",
            "model_fast": "openai:gpt-5-mini",
            "model_standard": "openai:gpt-5-mini",
            "model_strong": "openai:gpt-5",
            "requests_per_minute": 1e6,
            "tokens_per_minute": 1e9,
            "database_url": f"sqlite:///{Path(folder) / 'runs.sqlite'}",
        }
        local, shared = asyncio.run(_measure(common, redis_url))
    ratio = median(b / a for a, b in zip(local, shared, strict=True))
    return (
        f"a plan of {TASKS} tasks: {median(local):.3f} s by itself, {median(shared):.3f} s with "
        f"Redis, ratio {ratio:.3f} (median of {ROUNDS} pairs)"
    )


async def _measure(common: dict[str, Any], redis_url: str) -> tuple[list[float], list[float]]:
    graphs = [
        build_supervisor("market_analysis", settings=Settings(**common, redis_url=url))
        for url in (None, redis_url)
    ]
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(ROUNDS + 1):
        for graph, times in zip(graphs, seconds, strict=True):
            began_s = time.perf_counter()
            context = {"max_tasks": TASKS, "max_steps": 1000, "max_concurrency": 16}
            state = await graph.ainvoke({"request": "Compare the parts."}, context=context)
            assert state["status"] == "done", state["status"]
            if number:  # the first pair loads what is loaded once
                times.append(time.perf_counter() - began_s)
    return seconds
