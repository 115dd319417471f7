"""Draws tasks and what they need as SVG, from left to right."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from nodes.text.plain_text import to_one_line
from state import Plan, Task

BOX_WIDTH: Final = 180
BOX_HEIGHT: Final = 46
GAP_X: Final = 54
GAP_Y: Final = 16
MARGIN: Final = 6
MAX_LABEL_CHARS: Final = 24
MAX_TOOLTIP_CHARS: Final = 300
COLORS: Final = {
    "completed": "#2e8b57",
    "failed": "#c0392b",
    "skipped": "#8a8f98",
    "escalated": "#b7791f",
}
"""Of a box's border, by the status of the task's report; readable on white and on black."""
NEUTRAL: Final = "#6b7785"


@dataclass(frozen=True)
class Box:
    """A box of the picture."""

    name: str
    label: str
    note: str
    tooltip: str
    needs: Sequence[tuple[str, bool]] = ()
    """Names of boxes that an arrow comes from, each with whether its line is whole."""
    color: str = NEUTRAL


def draw_plan(plan: Plan, states: Mapping[str, str] | None = None) -> str:
    """Return a plan as SVG; a dashed arrow is a result that the task can do without.

    Args:
        states: statuses of the reports by task id, which color the boxes.
    """
    given = states or {}
    return draw_boxes(
        [
            Box(
                name=task.id,
                label=task.id,
                note=" · ".join(_list_notes(task, given)),
                tooltip=task.description,
                needs=[(each.task, each.required) for each in task.depends_on],
                color=COLORS.get(given.get(task.id, ""), NEUTRAL),
            )
            for task in plan.tasks
        ]
    )


def _list_notes(task: Task, states: Mapping[str, str]) -> list[str]:
    """Return the worker, where the task is not named after it, and the status."""
    notes = (task.worker if task.worker != task.id else "", states.get(task.id, ""))
    return [note for note in notes if note]


def draw_boxes(boxes: Sequence[Box]) -> str:
    """Return boxes and arrows as SVG; each box is right of all that it needs."""
    depths = _find_depths(boxes)
    rows = dict.fromkeys(range(max(depths.values(), default=0) + 1), 0)
    places = dict[str, tuple[int, int]]()
    for box in boxes:
        depth = depths[box.name]
        places[box.name] = (
            MARGIN + depth * (BOX_WIDTH + GAP_X),
            MARGIN + rows[depth] * (BOX_HEIGHT + GAP_Y),
        )
        rows[depth] += 1
    width = 2 * MARGIN + len(rows) * (BOX_WIDTH + GAP_X) - GAP_X
    height = 2 * MARGIN + max(rows.values()) * (BOX_HEIGHT + GAP_Y)
    arrows = [
        _draw_arrow(places[source], places[box.name], is_whole)
        for box in boxes
        for source, is_whole in box.needs
        if source in places
    ]
    drawn = "".join([*arrows, *(_draw_box(box, *places[box.name]) for box in boxes)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" style="max-width:100%;height:auto" role="img" '
        f'font-family="system-ui, sans-serif" font-size="12">{drawn}</svg>'
    )


def _find_depths(boxes: Iterable[Box]) -> dict[str, int]:
    """Return how many boxes are before each on its longest way; a circle ends where it closes."""
    needed = {box.name: [name for name, _ in box.needs] for box in boxes}
    depths = dict.fromkeys(needed, 0)
    for _ in needed:
        for name, sources in needed.items():
            known = [depths[each] + 1 for each in sources if each in depths]
            depths[name] = min(max([depths[name], *known]), len(needed))
    return depths


def _draw_box(box: Box, x: int, y: int) -> str:
    label, note = (escape(to_one_line(text, MAX_LABEL_CHARS)) for text in (box.label, box.note))
    tooltip = escape(to_one_line(box.tooltip, MAX_TOOLTIP_CHARS))
    middle = x + BOX_WIDTH // 2
    return (
        f"<g><title>{tooltip}</title>"
        f'<rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8" '
        f'fill="{box.color}" fill-opacity="0.10" stroke="{box.color}" stroke-width="1.5"/>'
        f'<text x="{middle}" y="{y + 20}" text-anchor="middle" font-weight="600" '
        f'fill="currentColor">{label}</text>'
        f'<text x="{middle}" y="{y + 36}" text-anchor="middle" fill="{box.color}">{note}</text></g>'
    )


def _draw_arrow(source: tuple[int, int], target: tuple[int, int], is_whole: bool) -> str:
    x1, y1 = source[0] + BOX_WIDTH, source[1] + BOX_HEIGHT // 2
    x2, y2 = target[0], target[1] + BOX_HEIGHT // 2
    bend = max(abs(x2 - x1) // 2, GAP_X // 2)
    dashes = "" if is_whole else ' stroke-dasharray="4 3"'
    return (
        f'<path d="M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 7} {y2}" fill="none" '
        f'stroke="{NEUTRAL}"{dashes}/><path d="M{x2} {y2}l-8 -4v8z" fill="{NEUTRAL}"/>'
    )
