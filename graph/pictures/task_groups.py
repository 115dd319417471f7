"""Groups of tasks that a picture draws as one box: equal needs, and needed by the same tasks."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from graph.pictures.plan_picture import PlannedTask

MIN_GROUP_TASKS: Final = 6


@dataclass(frozen=True)
class TaskGroup:
    """Tasks in one box; alone, or many with the same arrows."""

    tasks: Sequence[PlannedTask]


@dataclass(frozen=True)
class GroupEdge:
    """An arrow between two groups, by their indices."""

    source: int
    target: int
    is_required: bool
    is_critical: bool


def group_tasks(tasks: Sequence[PlannedTask]) -> list[TaskGroup]:
    """Return the tasks in groups, in the order of the plan."""
    dependents = defaultdict(set)
    for task in tasks:
        for need, required in task.needs.items():
            dependents[need].add((task.id, required))
    alike = defaultdict(list)
    for task in tasks:
        alike[frozenset(task.needs.items()), frozenset(dependents[task.id])].append(task)
    groups: list[TaskGroup] = []
    for same in alike.values():
        parts = [same] if len(same) >= MIN_GROUP_TASKS else [[task] for task in same]
        groups += map(TaskGroup, parts)
    order = {task.id: index for index, task in enumerate(tasks)}
    return sorted(groups, key=lambda group: order[group.tasks[0].id])


def list_group_edges(groups: Sequence[TaskGroup]) -> list[GroupEdge]:
    """Return the arrows between groups; a need that the plan lacks has none."""
    places = {task.id: index for index, group in enumerate(groups) for task in group.tasks}
    critical = {task.id for group in groups for task in group.tasks if task.is_critical}
    edges = {}
    for index, group in enumerate(groups):
        for need, required in group.tasks[0].needs.items():
            if need not in places:
                continue
            source = places[need]
            on_path = not critical.isdisjoint(task.id for task in group.tasks) and any(
                task.id in critical for task in groups[source].tasks
            )
            edges[source, index] = GroupEdge(source, index, required, on_path)
    return list(edges.values())
