"""A plan with its states as Mermaid, for a README file."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from graph.display.text import to_one_line
from graph.pictures.plan_layout import refuse_too_large
from graph.pictures.plan_picture import PlanPicture
from graph.pictures.state_look import LOOKS, find_look
from graph.pictures.task_groups import TaskGroup, group_tasks, list_group_edges
from nodes.text.counts import format_count

_PLAIN_CHARACTERS: Final = frozenset(" ._,-·…")
MAX_LABEL_CHARS: Final = 60


def write_mermaid(picture: PlanPicture) -> str:
    """Return a flowchart; tasks with the same arrows are one box, with their number.

    Raises:
        PlanTooLarge: Mermaid would not draw so many boxes or arrows.
    """
    groups = group_tasks(picture.tasks)
    edges = list_group_edges(groups)
    refuse_too_large(len(groups), len(edges))
    lines = ["flowchart LR"]
    lines += [f'  n{index}["{_write_label(group)}"]' for index, group in enumerate(groups)]
    for edge in edges:
        arrow = "==>" if edge.is_critical else "-->" if edge.is_required else "-.->"
        lines.append(f"  n{edge.source} {arrow} n{edge.target}")
    lines += _write_classes(groups)
    return "\n".join(lines)


def escape_label(text: str, max_chars: int = MAX_LABEL_CHARS) -> str:
    """Return a text that Mermaid shows as it is: all marks are written as character codes."""
    return "".join(
        char if char.isalnum() or char in _PLAIN_CHARACTERS else f"#{ord(char)};"
        for char in to_one_line(text, max_chars)
    )


def _write_label(group: TaskGroup) -> str:
    first = group.tasks[0]
    if len(group.tasks) == 1:
        return f"{escape_label(first.id)}<br>{escape_label(first.detail, 80)}"
    last = group.tasks[-1]
    states = Counter(task.state for task in group.tasks)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    total = format_count(len(group.tasks), "task")
    span = f"{escape_label(first.id, 24)} … {escape_label(last.id, 24)}"
    return f"{total}<br>{span}<br>{escape_label(counts, 80)}"


def _write_classes(groups: list[TaskGroup]) -> Iterator[str]:
    names = [_find_class(group) for group in groups]
    for name in sorted(set(names)):
        look = LOOKS[name]
        dashes = ",stroke-dasharray:5 3" if look.is_dashed else ""
        yield (
            f"  classDef {name} fill:{look.light.fill},stroke:{look.light.line},"
            f"color:#1b2027{dashes}"
        )
        members = ",".join(f"n{index}" for index, each in enumerate(names) if each == name)
        yield f"  class {members} {name}"


def _find_class(group: TaskGroup) -> str:
    """Return the class of a box: of many tasks, that of the state that needs attention most."""
    found = {find_look(task.state).name for task in group.tasks}
    return next(name for name in LOOKS if name in found)
