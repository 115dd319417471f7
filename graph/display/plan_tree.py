"""A large plan as a tree for a terminal: one line for each task."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text
from rich.tree import Tree

from graph.display.progress_display import STATE_STYLES
from graph.display.text import cut_middle, to_one_line

MAX_DESCRIBED_TASKS: Final = 12
"""Tasks of a plan that is shown with descriptions; a larger one is shown as a tree."""
MAX_DEPTH: Final = 7
"""Deeper tasks are not indented further, and name what they need."""
_GUIDE_COLUMNS: Final = 4
Json = Mapping[str, Any]


class PlanTree:
    """Draws a plan: each task is below the deepest of the tasks whose result it needs."""

    def __init__(self, plan: Json, states: Mapping[str, str]) -> None:
        self._plan, self._states = plan, states
        self._tasks = {str(task["id"]): task for task in plan.get("tasks") or ()}
        self._has_one_worker = len({task.get("worker") for task in self._tasks.values()}) == 1

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        width = options.max_width
        goal = f"plan {self._plan.get('version', 1)}: {self._plan.get('goal', '')}"
        root = Tree(Text(to_one_line(goal, width), style="bold"), guide_style="dim")
        branches = [root]
        for name, depth, parent in list_tree_rows(list(self._tasks.values())):
            shown = min(depth, MAX_DEPTH)
            line = self._format_task(name, "" if shown == depth else parent, parent)
            line.truncate(max(1, width - _GUIDE_COLUMNS * (shown + 1)), overflow="ellipsis")
            del branches[shown + 1 :]
            branches.append(branches[shown].add(line))
        yield root

    def _format_task(self, name: str, hidden_parent: str, parent: str) -> Text:
        task, state = self._tasks[name], self._states.get(name, "")
        line = Text(no_wrap=True)
        line.append(cut_middle(name, 40), style="bold")
        if not self._has_one_worker and task.get("worker") != name:
            line.append(f" {to_one_line(task.get('worker', ''), 20)}")
        line.append(f" {to_one_line(state, 24)}", style=STATE_STYLES.get(state, "dim"))
        needs = [need for need in _list_needs(task) if need != parent]
        if hidden_parent:
            needs.insert(0, hidden_parent)
        if needs:
            others = f" and {len(needs) - 1} more" if len(needs) > 1 else ""
            word = " after" if hidden_parent else " and after"
            line.append(f"{word} {cut_middle(needs[0], 30)}{others}", style="dim")
        return line


def list_tree_rows(tasks: Sequence[Json]) -> list[tuple[str, int, str]]:
    """Return each task with its depth and the task that it is below, in the order of a tree."""
    depths: dict[str, int] = {}
    below: dict[str, list[str]] = {"": []}
    for task in tasks:
        name = str(task["id"])
        if name in depths:  # only in a damaged trace
            continue
        known = [need for need in _list_needs(task) if need in depths]
        parent = max(known, key=lambda need: depths[need], default="")
        depths[name] = depths[parent] + 1 if parent else 0
        below.setdefault(parent, []).append(name)
        below.setdefault(name, [])
    found, left = [], [(name, "") for name in reversed(below[""])]
    while left:
        name, parent = left.pop()
        found.append((name, depths[name], parent))
        left += [(child, name) for child in reversed(below[name])]
    return found


def _list_needs(task: Json) -> list[str]:
    edges = task.get("depends_on") or ()
    return [str(edge["task"] if isinstance(edge, Mapping) else edge) for edge in edges]
