"""What no schedule, and no schedule in waves, can beat."""

from collections.abc import Callable, Mapping
from graphlib import TopologicalSorter

from tests.endpoint import Scenario

PLANNER_S = SYNTHESIZER_S = 0.2

Edges = Mapping[str, tuple[str, ...]]
"""By task, the tasks that it needs."""
Measure = Callable[[Edges, Mapping[str, float]], float]


def get_edges(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """Return the edges of a scenario's plan."""
    return {task.id: task.depends_on for task in scenario.tasks}


def compute_critical_path_s(edges: Edges, seconds: Mapping[str, float]) -> float:
    """Return the seconds of the longest chain of tasks."""
    ends: dict[str, float] = {}
    for task in TopologicalSorter(edges).static_order():
        ends[task] = seconds[task] + max((ends[name] for name in edges[task]), default=0.0)
    return max(ends.values())


def list_waves(edges: Edges) -> list[list[str]]:
    """Return the tasks by wave; a task is in the first wave after those that it needs."""
    sorter, waves = TopologicalSorter(edges), list[list[str]]()
    sorter.prepare()
    while sorter.is_active():
        waves.append(list(sorter.get_ready()))
        sorter.done(*waves[-1])
    return waves


def compute_waves_s(edges: Edges, seconds: Mapping[str, float]) -> float:
    """Return the seconds of the tasks where each wave waits for the whole wave before it."""
    return sum(max(seconds[task] for task in wave) for wave in list_waves(edges))


def compute_limit_s(scenario: Scenario) -> float:
    """Return planner + critical path + synthesizer, in seconds."""
    return _measure_scenario(scenario, compute_critical_path_s)


def compute_waves_limit_s(scenario: Scenario) -> float:
    """Return planner + waves + synthesizer, in seconds."""
    return _measure_scenario(scenario, compute_waves_s)


def _measure_scenario(scenario: Scenario, measure: Measure) -> float:
    seconds = {task.id: task.latency_s for task in scenario.tasks}
    calls = sum(scenario.latency_s[name] for name in ("Plan", "Answer"))
    return calls + measure(get_edges(scenario), seconds)
