"""The child process that reads course materials; `client.py` starts one process per task.

Hostile input can keep a YAML or Markdown parser busy for a long time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nodes.errors import ToolRefused
from nodes.tools.framework.tool_report import build_failures_part
from nodes.tools.reading.prose_sentences import is_prose

from .assessment import assess_objectives
from .course_plan import plan_course
from .difficulty import find_target_grade, measure_difficulty
from .material_selection import reject_if_out_of_scope, select_materials
from .objectives import (
    Objective,
    find_objectives,
    holds_objectives,
    parse_objective_lines,
)
from .timetable import read_capacity
from .topics import holds_topics, read_topics

Materials = Mapping[str, str]
MAX_OBJECTIVES = 200
DATA_SUFFIXES = (".csv", ".tsv", ".yaml", ".yml", ".json")
"""Names of materials that require a form; prose is read as far as possible."""


def plan_materials(
    request: str, materials: Materials, material: str, weeks: int, hours_a_week: float
) -> dict[str, Any]:
    """Order the topics of the materials that list some."""
    frame = read_capacity(request, weeks, hours_a_week)
    unread = [] if material else list(_list_unread(materials, read_topics))
    held = select_materials(material, materials, holds_topics)
    return _add_unread(lambda: plan_course(request, held, frame), unread)


def _list_unread(materials: Materials, read: Callable[[str, str], object]) -> Iterator[str]:
    """Yield why a table or a data file cannot be read."""
    for name, text in materials.items():
        if name.lower().endswith(DATA_SUFFIXES):
            try:
                read(name, text)
            except ToolRefused as refusal:
                yield f"{name} was not read: {refusal}"


def _add_unread(work: Callable[[], dict[str, Any]], unread: Sequence[str]) -> dict[str, Any]:
    """Return the result with what was not read added, also if the result is a refusal."""
    try:
        return {**work(), **build_failures_part(unread)}
    except ToolRefused as refusal:
        raise ToolRefused("; ".join([*unread, str(refusal)])) from None


def check_objectives(
    request: str, materials: Materials, material: str, objectives: str
) -> dict[str, Any]:
    """Assess the objectives passed, else those of the materials."""
    if objectives.strip():
        return _assess_limited(parse_objective_lines(objectives), [])
    held = select_materials(material, materials, holds_objectives)
    unread = [] if material else list(_list_unread(materials, find_objectives))
    found = [each for name, text in held.items() for each in find_objectives(name, text)]
    return _assess_limited(found, unread)


def _assess_limited(found: Sequence[Objective], unread: Sequence[str]) -> dict[str, Any]:
    failures, most = list(unread), MAX_OBJECTIVES
    if len(found) > most:
        failures.append(f"only the first {most} of {len(found)} objectives were checked")
    return _add_unread(lambda: assess_objectives(found[:most]), failures)


def measure_materials(
    request: str, materials: Materials, material: str, target_grade: float
) -> dict[str, Any]:
    """Measure the materials that are prose."""
    return measure_difficulty(
        select_materials(material, materials, is_prose), find_target_grade(request, target_grade)
    )


HANDLERS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "plan": plan_materials,
    "check": check_objectives,
    "measure": measure_materials,
}


def answer_request(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{work, given}` with `{told}`, or with the refusal: `{objection}`."""
    given = request["given"]
    asked = f"{given['request']} {given.get('objectives', '')}"
    try:
        told = reject_if_out_of_scope(asked, given["materials"]) or HANDLERS[request["work"]](
            **given
        )
    except ToolRefused as refusal:
        return {"objection": str(refusal)}
    return {"told": told}
