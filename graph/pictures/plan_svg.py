"""A plan with its states as SVG."""

from collections.abc import Sequence
from math import ceil, hypot, sqrt
from typing import Final

from graph.pictures.plan_layout import Point, lay_out_plan
from graph.pictures.plan_picture import PlannedTask, PlanPicture
from graph.pictures.state_look import find_look
from graph.pictures.svg import (
    BOLD_CHAR_WIDTH,
    HEADER_HEIGHT,
    LEGEND_HEIGHT,
    MARGIN,
    SMALL_CHAR_WIDTH,
    Element,
    add_element,
    add_legend,
    add_mark,
    add_text,
    add_title,
    begin_picture,
    fit_name,
    fit_text,
    write_picture,
)
from graph.pictures.task_groups import GroupEdge, TaskGroup, group_tasks, list_group_edges

BOX: Final = (230.0, 50.0)
CELL: Final = (200.0, 40.0)
"""Size of a task in a box of many."""
CELL_GAP: Final = 8.0
MANY_PADDING: Final = 12.0
MIN_WIDTH: Final = 620.0
_CORNER: Final = 6.0
_HEAD: Final = 8.0


def draw_plan(picture: PlanPicture) -> str:
    """Return the plan as SVG, the same for the same trace.

    Raises:
        PackageMissing: the package for the layout is not installed.
        PlanTooLarge: it cannot be drawn.
    """
    groups = group_tasks(picture.tasks)
    edges = list_group_edges(groups)
    sizes = [_measure_group(group) for group in groups]
    layout = lay_out_plan(sizes, edges)
    width = max(MIN_WIDTH, layout.size[0] + 2 * MARGIN)
    height = layout.size[1] + 2 * MARGIN + HEADER_HEIGHT + LEGEND_HEIGHT
    root = begin_picture(width, height, picture.title, picture.summary, "Plan")
    left, top = (width - layout.size[0]) / 2, MARGIN + HEADER_HEIGHT
    drawing = add_element(root, "g", transform=f"translate({left:.1f} {top:.1f})")
    for edge, line in zip(edges, layout.lines, strict=True):
        _add_arrow(drawing, edge, line)
    for group, corner, size in zip(groups, layout.corners, sizes, strict=True):
        _add_group(drawing, group, corner, size)
    _add_plan_legend(root, height, picture, edges)
    return write_picture(root)


def _measure_group(group: TaskGroup) -> Point:
    count = len(group.tasks)
    if count == 1:
        return BOX
    columns = _count_columns(count)
    rows = ceil(count / columns)
    return (
        columns * (CELL[0] + CELL_GAP) - CELL_GAP + 2 * MANY_PADDING,
        rows * (CELL[1] + CELL_GAP) - CELL_GAP + 2 * MANY_PADDING + 20,
    )


def _count_columns(count: int) -> int:
    """Return how many columns make a box of many tasks about as wide as high."""
    return max(1, round(sqrt(count * CELL[1] / CELL[0])))


def _add_group(parent: Element, group: TaskGroup, corner: Point, size: Point) -> None:
    x, y = corner
    if len(group.tasks) == 1:
        _add_task(parent, group.tasks[0], corner, BOX)
        return
    add_element(parent, "rect", class_="many", x=x, y=y, width=size[0], height=size[1], rx=10.0)
    heading = f"{len(group.tasks)} tasks with the same arrows"
    add_text(parent, x + MANY_PADDING, y + 19, heading, "quiet")
    columns = _count_columns(len(group.tasks))
    for index, task in enumerate(group.tasks):
        row, column = divmod(index, columns)
        place = (
            x + MANY_PADDING + column * (CELL[0] + CELL_GAP),
            y + MANY_PADDING + 20 + row * (CELL[1] + CELL_GAP),
        )
        _add_task(parent, task, place, CELL)


def _add_task(parent: Element, task: PlannedTask, corner: Point, size: Point) -> None:
    look, (x, y), (width, height) = find_look(task.state), corner, size
    on_path = " path" if task.is_critical else ""
    box = add_element(parent, "g", class_=f"{look.name}{on_path}")
    add_title(box, f"{task.id}: {task.detail}. {task.description}")
    add_element(box, "rect", class_="box", x=x, y=y, width=width, height=height, rx=_CORNER)
    add_mark(box, look.name, x + 10, y + height / 2 - 15)
    room = width - 38
    add_text(box, x + 30, y + height / 2 - 4, fit_name(task.id, room, BOLD_CHAR_WIDTH), "name")
    detail = fit_text(task.detail, room, SMALL_CHAR_WIDTH)
    add_text(box, x + 30, y + height / 2 + 13, detail, "small")


def _add_arrow(parent: Element, edge: GroupEdge, line: Sequence[Point]) -> None:
    class_ = "critical" if edge.is_critical else "arrow" if edge.is_required else "optional"
    if edge.is_critical and not edge.is_required:
        class_ = "critical optional"
    tip, before = line[-1], line[-2]
    length = hypot(tip[0] - before[0], tip[1] - before[1]) or 1.0
    ahead = ((tip[0] - before[0]) / length, (tip[1] - before[1]) / length)
    base = (tip[0] - _HEAD * ahead[0], tip[1] - _HEAD * ahead[1])
    add_element(parent, "path", class_=class_, d=_write_rounded_line([*line[:-1], base]))
    side = (-ahead[1] * _HEAD / 2, ahead[0] * _HEAD / 2)
    points = (tip, (base[0] + side[0], base[1] + side[1]), (base[0] - side[0], base[1] - side[1]))
    shape = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    head = "head-critical" if edge.is_critical else "head"
    add_element(parent, "polygon", class_=head, points=shape)


def _write_rounded_line(line: Sequence[Point]) -> str:
    """Return a path along points, with round corners."""
    parts = [f"M{line[0][0]:.1f} {line[0][1]:.1f}"]
    for before, corner, after in zip(line, line[1:], line[2:], strict=False):
        start, end = _move_towards(corner, before), _move_towards(corner, after)
        parts.append(
            f"L{start[0]:.1f} {start[1]:.1f}"
            f"Q{corner[0]:.1f} {corner[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
        )
    return "".join([*parts, f"L{line[-1][0]:.1f} {line[-1][1]:.1f}"])


def _move_towards(corner: Point, other: Point) -> Point:
    length = hypot(other[0] - corner[0], other[1] - corner[1])
    share = min(_CORNER, length / 2) / length if length else 0.0
    return (
        corner[0] + (other[0] - corner[0]) * share,
        corner[1] + (other[1] - corner[1]) * share,
    )


def _add_plan_legend(
    root: Element, height: float, picture: PlanPicture, edges: Sequence[GroupEdge]
) -> None:
    lines = []
    if any(task.is_critical for task in picture.tasks):
        lines.append(("critical", "critical path"))
    if not all(edge.is_required for edge in edges):
        lines.append(("optional", "result is optional"))
    states = {find_look(task.state).name for task in picture.tasks}
    add_legend(root, MARGIN, height - MARGIN, states, lines)
