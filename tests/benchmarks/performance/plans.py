"""The plans that are run: made ones, by name, and measured workflows."""

import random
from collections.abc import Mapping
from dataclasses import replace

from tests.benchmarks.performance.limits import PLANNER_S, SYNTHESIZER_S, Edges
from tests.endpoint import Scenario, script_tasks

CASCADE: Edges = {"T1": (), "T2": (), "T3": ("T1",), "T4": ("T2",), "T5": ("T3", "T4")}
CASCADE_S = {"T1": 0.1, "T2": 0.8, "T3": 0.8, "T4": 0.1, "T5": 0.1}
HYBRID: Edges = {
    **{f"t{n}": () for n in range(4)},
    "t4": ("t0", "t1"),
    "t5": ("t2",),
    "t6": ("t4",),
    "t7": ("t5",),
    "t8": ("t3", "t5"),
    "t9": ("t6", "t7", "t8"),
}
HYBRID_S = dict(zip(HYBRID, (0.3, 0.6, 0.2, 0.9, 0.3, 0.7, 0.5, 0.2, 0.4, 0.3), strict=True))
WIDE_S, FAN_S, CHAIN_S = 0.2, 0.5, 0.01
BURST_S = 0.1
STREAMED_PLAN_S, STREAMED_S = 2.0, 1.0
MADE_PLANS = (
    *("fan-5", "cascade", "hybrid-10", "wide-10", "wide-100"),
    *("random-40", "chain-90", "wide-1000", "streamed-4", "burst-100"),
)


def make_plan(name: str) -> Scenario:
    """Return a plan by its name, such as `wide-100`: a shape and its number of tasks.

    Raises:
        ValueError: there is no such plan.
    """
    shape, _, number = name.partition("-")
    count = int(number) if number.isdecimal() else 0
    match shape:
        case "cascade" if not number:
            return make_scenario(CASCADE, CASCADE_S)
        case "hybrid" if count == len(HYBRID):
            return make_scenario(HYBRID, HYBRID_S)
        case "fan" | "wide" if count:
            return make_scenario(_list_independent(count), FAN_S if shape == "fan" else WIDE_S)
        case "burst" if count:  # the plan arrives at once, and no call begins before it
            return replace(make_scenario(_list_independent(count), BURST_S), is_paced=False)
        case "streamed" if count:
            latency_s = {"Plan": STREAMED_PLAN_S, "Answer": SYNTHESIZER_S}
            return replace(make_scenario(_list_independent(count), STREAMED_S), latency_s=latency_s)
        case "chain" if count:
            names = [f"t{index}" for index in range(count)]
            edges = {name: tuple(names[max(0, n - 1) : n]) for n, name in enumerate(names)}
            return make_scenario(edges, CHAIN_S)
        case "random" if count:
            return make_random_plan(count, seed=7, mean_s=0.5)
    raise ValueError(f"no plan is named {name!r}; known are {', '.join(MADE_PLANS)}")


def make_random_plan(tasks: int, *, seed: int, mean_s: float, max_depth: int = 100) -> Scenario:
    """Make tasks with up to three dependencies each, and lognormal latencies."""
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
    return make_scenario(edges, {name: weight * scale for name, weight in weights.items()})


def make_scenario(edges: Edges, seconds: float | Mapping[str, float]) -> Scenario:
    """Make the scenario of a plan, with the seconds of its tasks."""
    return Scenario(
        tasks=script_tasks(edges, latency_s=seconds),
        latency_s={"Plan": PLANNER_S, "Answer": SYNTHESIZER_S},
        is_paced=True,
    )


def _list_independent(count: int) -> Edges:
    return {f"t{index}": () for index in range(count)}
