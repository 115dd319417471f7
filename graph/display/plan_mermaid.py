"""A plan with its states as Mermaid, for a README file; tasks with equal arrows are one box."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph.display.labels import COULD_NOT, format_seconds, format_task, label_tasks
from graph.display.text import to_one_line
from graph.runs.event_log import FORM_ERRORS
from graph.runs.trace import TraceUnreadable
from nodes.errors import UsageError
from nodes.text.counts import format_count

MIN_GROUP_TASKS: Final = 6
MAX_BOXES: Final = 250
MAX_ARROWS: Final = 500
INK: Final = "#1b2027"
COLOURS: Final = {
    "failed": ("#fdeae8", "#b3261e"),
    "escalated": ("#fdf0dc", "#8a4b00"),
    "asking": ("#fbefff", "#8250df"),
    "working": ("#e4eefc", "#1556b8"),
    "skipped": ("#eceef1", "#5b6472"),
    "waiting": ("#ffffff", "#5b6472"),
    "done": ("#e2f4e8", "#1b6e3c"),
}
"""The fill and the line of a box by state; what needs attention most comes first."""
DASHED: Final = ("skipped", "waiting")
_STATES: Final = {
    COULD_NOT: "escalated",
    "cut off": "failed",
    "waiting for your answer": "asking",
    "ready": "waiting",
}
_PLAIN_CHARACTERS: Final = frozenset(" ._,-·…")
MAX_LABEL_CHARS: Final = 60


class PlanTooLarge(UsageError):
    """A plan has too many boxes or arrows for a drawing."""


class PlanMissing(UsageError):
    """A run has no plan that could be drawn."""


@dataclass(frozen=True)
class PlannedTask:
    """A task of a plan as the drawing shows it."""

    id: str
    state: str
    """Its label, such as `done`."""
    detail: str
    """State, seconds, further attempts and worker, on one line."""
    needs: Mapping[str, bool]
    """Ids of the tasks whose results it gets, and whether it requires them."""
    is_critical: bool
    """It is on the critical path."""


Group = Sequence[PlannedTask]
"""Tasks in one box: one, or many with the same arrows."""


def read_planned_tasks(trace: Mapping[str, Any]) -> list[PlannedTask]:
    """Return the tasks of a trace's plan, as the drawing shows them.

    Raises:
        TraceUnreadable: it is not the trace of a run.
        PlanMissing: the run has no plan.
    """
    try:
        states, critical = label_tasks(trace), trace.get("timing", {}).get("critical_path", ())
        found = [
            _read_task(task, states[task["id"]], task["id"] in critical) for task in trace["tasks"]
        ]
    except FORM_ERRORS as error:
        raise TraceUnreadable(
            "the trace has not the form that this version reads",
            cause=type(error).__name__,
            next="`supervise runs` lists the threads there are",
        ) from None
    if not found:
        raise PlanMissing(
            "the run has no plan", next="`supervise show THREAD` prints what there is"
        )
    return found


def write_mermaid(tasks: Sequence[PlannedTask]) -> str:
    """Return a flowchart; tasks with the same arrows are one box, with their number.

    Raises:
        PlanTooLarge: Mermaid would not draw so many boxes or arrows.
    """
    groups = group_tasks(tasks)
    arrows = list_arrows(groups)
    if len(groups) > MAX_BOXES or len(arrows) > MAX_ARROWS:
        raise PlanTooLarge(
            f"the plan is too large to draw: {len(groups)} boxes and {len(arrows)} arrows",
            next="`supervise trace THREAD --format html`",
        )
    boxes = (f'  n{index}["{_write_label(group)}"]' for index, group in enumerate(groups))
    return "\n".join(["flowchart LR", *boxes, *arrows, *_write_classes(groups)])


def escape_label(text: str, max_chars: int = MAX_LABEL_CHARS) -> str:
    """Return a text that Mermaid shows as it is: all marks are written as character codes."""
    return "".join(
        char if char.isalnum() or char in _PLAIN_CHARACTERS else f"#{ord(char)};"
        for char in to_one_line(text, max_chars)
    )


def _write_label(group: Group) -> str:
    first, last = group[0], group[-1]
    if len(group) == 1:
        return f"{escape_label(first.id)}<br>{escape_label(first.detail, 80)}"
    states = Counter(task.state for task in group)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    span = f"{escape_label(first.id, 24)} … {escape_label(last.id, 24)}"
    return f"{format_count(len(group), 'task')}<br>{span}<br>{escape_label(counts, 80)}"


def _write_classes(groups: Sequence[Group]) -> Iterator[str]:
    names = [_find_class(group) for group in groups]
    for name in sorted(set(names)):
        fill, line = COLOURS[name]
        dashes = ",stroke-dasharray:5 3" if name in DASHED else ""
        yield f"  classDef {name} fill:{fill},stroke:{line},color:{INK}{dashes}"
        members = ",".join(f"n{index}" for index, each in enumerate(names) if each == name)
        yield f"  class {members} {name}"


def _find_class(group: Group) -> str:
    """Return the class of a box: of many tasks, that of the state that needs attention most."""
    found = {_STATES.get(task.state, task.state) for task in group}
    return next((name for name in COLOURS if name in found), "waiting")


def group_tasks(tasks: Sequence[PlannedTask]) -> list[Group]:
    """Return the tasks in groups, in the order of the plan."""
    dependents, alike = defaultdict(set), defaultdict(list)
    for task in tasks:
        for need, required in task.needs.items():
            dependents[need].add((task.id, required))
    for task in tasks:
        alike[frozenset(task.needs.items()), frozenset(dependents[task.id])].append(task)
    groups = list[Group]()
    for same in alike.values():
        groups += [same] if len(same) >= MIN_GROUP_TASKS else [[task] for task in same]
    order = {task.id: index for index, task in enumerate(tasks)}
    return sorted(groups, key=lambda group: order[group[0].id])


def list_arrows(groups: Sequence[Group]) -> list[str]:
    """Return the arrows between groups; a need that the plan lacks has none."""
    places = {task.id: index for index, group in enumerate(groups) for task in group}
    critical = [any(task.is_critical for task in group) for group in groups]
    arrows = {}
    for index, group in enumerate(groups):
        for need, required in group[0].needs.items():
            if (source := places.get(need)) is not None:
                is_critical = critical[source] and critical[index]
                arrow = "==>" if is_critical else "-->" if required else "-.->"
                arrows[source, index] = f"  n{source} {arrow} n{index}"
    return list(arrows.values())


def _read_task(task: Mapping[str, Any], state: str, is_critical: bool) -> PlannedTask:
    needs = {edge["task"]: edge.get("required", True) for edge in task.get("depends_on") or ()}
    details = " · ".join(filter(None, _list_details(task, state)))
    return PlannedTask(str(task["id"]), state, details, needs, is_critical)


def _list_details(task: Mapping[str, Any], state: str) -> Iterator[str]:
    report = task.get("report") or {}
    yield state
    if report.get("started_s") is not None and report.get("ended_s") is not None:
        yield format_seconds(max(0.0, report["ended_s"] - report["started_s"]))
    if (attempts := report.get("attempts") or 1) > 1:
        yield format_count(attempts, "attempt")
    if inner := (task.get("team") or {}).get("tasks"):
        yield f"team of {format_count(len(inner), 'task')}"
    worker = str(report.get("worker") or task.get("worker") or "")
    yield worker if format_task(task["id"], worker) != task["id"] else ""
