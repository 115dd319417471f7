"""Measure what recruiting costs against a static roster, on a plan of ten tasks (S13).

    python -m tests.benchmarks.recruiting [--repeat 5]

The same ten tasks, four of them in a row: once a worker of the roster has them all, once each gets
a specialist of its own. The endpoint takes 200 ms for a plan, an answer and a specialist, 500 ms
for a task.
"""

import argparse
import asyncio
import statistics
import time
from typing import Any

from graph import build_supervisor
from graph.settings import Settings
from tests.benchmarks.options import read_options
from tests.endpoint import Scenario, script_tasks
from tests.endpoint.process import EndpointProcess, run_endpoint_process
from tests.teams import make_team

EDGES: dict[str, tuple[str, ...]] = {
    **{f"t{n}": () for n in range(6)},
    "t6": ("t0", "t1"),
    "t7": ("t6",),
    "t8": ("t7",),
    "t9": ("t2",),
}
SPECIALIST = {
    "role": "Parts writer",
    "instructions": "Name the figures of the part, each with its source.",
    "tools": ["calculate"],
}


def make_scenario(worker: str) -> Scenario:
    """Ten tasks for one worker, or for as many specialists."""
    return Scenario(
        tasks=script_tasks(EDGES, latency_s=0.5, worker=worker),
        answers={"Recruit": SPECIALIST},
        latency_s={"*": 0.2},
    )


async def measure_plan(endpoint: EndpointProcess, repeat: int) -> dict[str, float]:
    """Run the plan some times, after one that warms up: median seconds, calls and tokens a run."""
    name = "openai:gpt-5-mini"
    settings = Settings(
        openai_base_url=endpoint.base_url,
        openai_api_key="sk-benchmark",
        model_fast=name,
        model_standard=name,
        model_strong=name,
        max_concurrency=64,
    )
    graph = build_supervisor(make_team(recruit=True, grant=("calculate",)), settings=settings)
    seconds, state = [], dict[str, Any]()
    for _ in range(repeat + 1):
        began = time.perf_counter()
        state = await graph.ainvoke({"request": "Compare the parts."})
        seconds.append(time.perf_counter() - began)
        assert state["status"] == "done" and len(state["results"]) == len(EDGES)
    usage: Any = state["usage"]
    tokens = usage.input_tokens + usage.output_tokens
    return {
        "seconds": statistics.median(seconds[1:]),
        "calls": usage.model_calls,
        "tokens": tokens,
    }


async def print_comparison(
    static: EndpointProcess, recruited: EndpointProcess, repeat: int
) -> None:
    """Print both and their ratios."""
    roster, specialists = await measure_plan(static, repeat), await measure_plan(recruited, repeat)
    print("| ten tasks | roster | specialists | ratio |")
    print("|---|---|---|---|")
    for name in roster:
        ratio = specialists[name] / roster[name]
        print(f"| {name} | {roster[name]:.5g} | {specialists[name]:.5g} | {ratio:.3f} |")


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = read_options(parser).repeat
    with (
        run_endpoint_process(make_scenario("researcher")) as static,
        run_endpoint_process(make_scenario("specialist")) as recruited,
    ):
        asyncio.run(print_comparison(static, recruited, repeat))


if __name__ == "__main__":
    main()
