"""Measure dispatch without the barrier against waves: makespan over the physical limit.

    python -m tests.benchmarks.dispatch [--repeat 5] [--json FILE]

The limit is planner + critical path + synthesizer, as the endpoint plays them. The endpoint runs
in a process of its own. `waves` is the usual LangGraph graph, one `Send` per ready task, over the
same model client and with no checks, tools or trace; it is here for comparison only.
"""

import argparse
import asyncio
import json
import operator
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from graph import build_supervisor
from graph.runs.run_store import build_strict_serializer, open_saver
from graph.settings import Settings
from nodes.models.catalog import ModelCatalog
from nodes.models.structured_output import ask_model
from state import Answer, Plan, Report, Task
from tests.endpoint import Scenario, script_tasks
from tests.endpoint.process import EndpointProcess, run_endpoint_process
from tests.teams import make_team

PLANNER_S = SYNTHESIZER_S = 0.2
CASCADE_MS = {"T1": 100, "T2": 800, "T3": 800, "T4": 100, "T5": 100}
CASCADE = {"T1": (), "T2": (), "T3": ("T1",), "T4": ("T2",), "T5": ("T3", "T4")}


def make_cascade_scenario() -> Scenario:
    """The mission's five tasks, uneven."""
    return _make_scenario(CASCADE, {name: ms / 1000 for name, ms in CASCADE_MS.items()})


def make_random_scenario(tasks: int, *, seed: int, mean_s: float, max_depth: int = 100) -> Scenario:
    """Tasks with up to three dependencies each, and lognormal latencies."""
    draw = random.Random(seed)
    edges: dict[str, tuple[str, ...]] = {}
    depth: list[int] = []
    for index in range(tasks):
        near = [i for i in range(max(0, index - 8), index) if depth[i] < max_depth]
        count = min(len(near), draw.choice([0, 1, 1, 2, 2, 3]))
        needed = sorted(draw.sample(near, count))
        edges[f"t{index}"] = tuple(f"t{i}" for i in needed)
        depth.append(1 + max((depth[i] for i in needed), default=0))
    weights = {name: draw.lognormvariate(0, 1) for name in edges}
    scale = mean_s * tasks / sum(weights.values())
    return _make_scenario(edges, {name: weight * scale for name, weight in weights.items()})


def _make_scenario(edges: Mapping[str, tuple[str, ...]], latency_s: dict[str, float]) -> Scenario:
    return Scenario(
        tasks=script_tasks(edges, latency_s=latency_s),
        latency_s={"Plan": PLANNER_S, "Answer": SYNTHESIZER_S},
    )


def compute_limit_s(scenario: Scenario) -> float:
    """Return the time no schedule can beat."""
    ends: dict[str, float] = {}
    for task in scenario.tasks:
        ends[task.id] = task.latency_s + max((ends[name] for name in task.depends_on), default=0)
    return PLANNER_S + max(ends.values()) + SYNTHESIZER_S


def compute_barrier_limit_s(scenario: Scenario) -> float:
    """Return the time that waves need at least."""
    level: dict[str, int] = {}
    for task in scenario.tasks:
        level[task.id] = 1 + max((level[name] for name in task.depends_on), default=0)
    slowest = {
        wave: max(task.latency_s for task in scenario.tasks if level[task.id] == wave)
        for wave in level.values()
    }
    return PLANNER_S + sum(slowest.values()) + SYNTHESIZER_S


class WaveState(TypedDict, total=False):
    plan: Plan
    results: Annotated[dict[str, Report], operator.or_]
    answer: Answer
    task: Task


def build_waves(settings: Settings, saver: BaseCheckpointSaver[Any]) -> Any:
    """The baseline: ready tasks are sent, and all of them awaited before the next are."""
    models = ModelCatalog(settings.build_model_settings())
    model = models.get_chat_model("standard")

    async def plan(state: WaveState) -> WaveState:
        return {"plan": (await ask_model(model, Plan, [HumanMessage("plan")])).value}

    async def work(state: WaveState) -> WaveState:
        task = state["task"]
        reply = await ask_model(
            model, Report, [HumanMessage(f"task: {task.id}\n{task.description}")]
        )
        return {"results": {task.id: reply.value}}

    async def answer(state: WaveState) -> WaveState:
        return {"answer": (await ask_model(model, Answer, [HumanMessage("answer")])).value}

    def ready(state: WaveState) -> list[Send] | str:
        done = state.get("results", {})
        waiting = [task for task in state["plan"].tasks if task.id not in done]
        free = [t for t in waiting if all(edge.task in done for edge in t.depends_on)]
        return [Send("work", {"task": task}) for task in free] or "answer"

    builder = StateGraph(WaveState)
    builder.add_node("plan", plan)
    builder.add_node("work", work)
    builder.add_node("gather", lambda _: {})
    builder.add_node("answer", answer)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", ready, ["work", "answer"])
    builder.add_edge("work", "gather")
    builder.add_conditional_edges("gather", ready, ["work", "answer"])
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


async def measure_makespan_s(run: Callable[[str], Awaitable[Any]], repeat: int) -> float:
    """Return the median of some runs, after one that warms up."""
    taken = []
    for index in range(repeat + 1):
        began = time.perf_counter()
        await run(f"run-{index}")
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[1:])


def _make_settings(served: EndpointProcess) -> Settings:
    names = dict.fromkeys(("model_fast", "model_standard", "model_strong"), "openai:gpt-5-mini")
    return Settings(
        openai_base_url=served.base_url,
        openai_api_key="sk-benchmark",
        max_concurrency=200,
        **names,
    )


async def measure_scenario(scenario: Scenario, *, where: str, repeat: int) -> dict[str, Any]:
    """Measure one scenario on one saver: ours, and waves beside it."""
    with run_endpoint_process(scenario) as served, tempfile.TemporaryDirectory() as folder:
        settings = _make_settings(served)
        async with _SaverContext(where, Path(folder)) as saver:
            ours = build_supervisor(make_team(), settings=settings, checkpointer=saver)
            waves = build_waves(settings, saver)

            async def run_ours(thread: str) -> None:
                config: Any = {"configurable": {"thread_id": f"ours-{thread}"}}
                state = await ours.ainvoke({"request": "Compare the parts."}, config)
                assert state["status"] == "done", state["answer"]
                assert len(state["results"]) == len(scenario.tasks)

            async def run_waves(thread: str) -> None:
                config: Any = {"configurable": {"thread_id": f"waves-{thread}"}}
                state = await waves.ainvoke({}, config, durability="sync")
                assert len(state["results"]) == len(scenario.tasks)

            ours_s = await measure_makespan_s(run_ours, repeat)
            calls = served.fetch_records()["calls"]
            waves_s = await measure_makespan_s(run_waves, repeat)
    bytes_per_task = [call["body_bytes"] for call in calls if call["schema"] == "Report"]
    return {
        "ours": ours_s / compute_limit_s(scenario),
        "waves": waves_s / compute_limit_s(scenario),
        "waves at best": compute_barrier_limit_s(scenario) / compute_limit_s(scenario),
        "calls": len(calls) / (repeat + 1),
        "tasks": len(scenario.tasks),
        "input bytes a task": statistics.mean(bytes_per_task),
        "overhead ms a task": (ours_s - compute_limit_s(scenario)) * 1000 / len(scenario.tasks),
    }


class _SaverContext:
    """A checkpointer in memory or on SQLite, as an async context."""

    def __init__(self, where: str, folder: Path) -> None:
        self.where, self.folder = where, folder

    async def __aenter__(self) -> BaseCheckpointSaver[Any]:
        if self.where == "memory":
            return InMemorySaver(serde=build_strict_serializer())
        self._opened = open_saver(self.folder / "runs.sqlite")
        return await self._opened.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        if self.where != "memory":
            await self._opened.__aexit__(*error)


async def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: dict[str, dict[str, Any]] = {}
    for name, scenario in {
        "cascade": make_cascade_scenario(),
        "random-40": make_random_scenario(40, seed=7, mean_s=0.5),
    }.items():
        for where in ("memory", "sqlite"):
            row = await measure_scenario(scenario, where=where, repeat=options.repeat)
            if not rows:
                print("| makespan over the limit | " + " | ".join(row) + " |")
                print("|---" * (len(row) + 1) + "|")
            figures = " | ".join(f"{figure:.4g}" for figure in row.values())
            print(f"| {name}, {where} | {figures} |", flush=True)
            rows[f"{name}, {where}"] = row
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    asyncio.run(main())
