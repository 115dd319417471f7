"""The latency report: what the run took, and what its tasks saved by waiting at the same time."""

from collections.abc import Iterable, Mapping

from state import Plan, Report, Task, Timing

SLACK = 1.15
"""Wall time over the critical path from which waiting, not work, is what bounds a run."""


def measure_latency(
    plan: Plan | None,
    results: Mapping[str, Report],
    *,
    asked_s: float,
    planned_s: float,
    ended_s: float,
) -> Timing:
    """Measure a run from the moments it noted, all on the run's clock."""
    tasks = plan.order_tasks() if plan else ()
    spans = {
        task.id: results[task.id].ended_s - results[task.id].started_s
        for task in tasks
        if task.id in results
    }
    planning_s = planned_s - asked_s
    last_s = max((results[name].ended_s for name in spans), default=planned_s)
    synthesis_s = max(0.0, ended_s - last_s)
    chain, chain_s = _find_longest_chain(tasks, spans)
    wall_s = max(ended_s - asked_s, 1e-6)
    path_s = planning_s + chain_s + synthesis_s
    parts = {"supervisor": planning_s, **{n: spans[n] for n in chain}, "synthesizer": synthesis_s}
    usages = [results[name].usage for name in spans]
    sequential_s = wall_s + sum(usage.overlapped_s for usage in usages)
    has_waited = any(usage.waited_s for usage in usages)
    return Timing(
        wall_s=round(wall_s, 6),
        planning_s=round(planning_s, 6),
        sequential_s=round(sequential_s, 6),
        critical_path_s=round(path_s, 6),
        speedup=round(sequential_s / wall_s, 3) if has_waited else None,
        critical_path=tuple(parts),
        bounded_by=_name_bottleneck(parts, wall_s, path_s),
    )


def _find_longest_chain(
    tasks: Iterable[Task], spans: Mapping[str, float]
) -> tuple[tuple[str, ...], float]:
    """Return the chain of dependencies that took longest; the tasks are in topological order."""
    chains: dict[str, tuple[tuple[str, ...], float]] = {}
    for task in tasks:
        before = max(
            (chains[edge.task] for edge in task.depends_on if edge.task in chains),
            key=lambda chain: chain[1],
            default=((), 0.0),
        )
        if task.id in spans:
            chains[task.id] = ((*before[0], task.id), before[1] + spans[task.id])
    return max(chains.values(), key=lambda chain: chain[1], default=((), 0.0))


def _name_bottleneck(parts: Mapping[str, float], wall_s: float, path_s: float) -> str:
    if wall_s > path_s * SLACK:
        return f"waiting: {wall_s - path_s:.2f} s, for limits or as the run was resumed"
    name = max(parts, key=lambda part: parts[part])
    return f"{name}: {parts[name]:.2f} s of the slowest chain's {path_s:.2f} s"
