"""The child process that reads course materials; `work.py` asks it, one task a process.

A text that is made for it keeps a reader of YAML or Markdown busy for a long time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nodes.errors import ToolRefused
from nodes.tools.isolation import serve
from nodes.tools.learning.assessment import assessed
from nodes.tools.learning.chosen import chosen, not_of_teaching
from nodes.tools.learning.difficulty import difficulty, target_of
from nodes.tools.learning.objectives import (
    Objective,
    holds_objectives,
    objectives_in,
    objectives_of,
)
from nodes.tools.learning.plan import plan
from nodes.tools.learning.prose import is_prose
from nodes.tools.learning.topics import holds_topics, topics_of
from nodes.tools.learning.weeks import frame_of
from nodes.tools.replies import with_failures

Materials = Mapping[str, str]
MAX_OBJECTIVES = 200
DATA = (".csv", ".tsv", ".yaml", ".yml", ".json")
"""Names of materials that promise a form; prose is read as far as it goes."""


def planned(
    request: str, materials: Materials, material: str, weeks: int, hours_a_week: float
) -> dict[str, Any]:
    """Order the topics of the materials that list some."""
    frame = frame_of(request, weeks, hours_a_week)
    unread = [] if material else list(_unread(materials, topics_of))
    held = chosen(material, materials, holds_topics)
    return _with_unread(lambda: plan(request, held, frame), unread)


def _unread(materials: Materials, read: Callable[[str, str], object]) -> Iterator[str]:
    """Yield why a table or a data file cannot be read."""
    for name, text in materials.items():
        if name.lower().endswith(DATA):
            try:
                read(name, text)
            except ToolRefused as refusal:
                yield f"{name} was not read: {refusal}"


def _with_unread(work: Callable[[], dict[str, Any]], unread: Sequence[str]) -> dict[str, Any]:
    """Return what the work gives with what was not read; so too where it gives nothing."""
    try:
        return {**work(), **with_failures(unread)}
    except ToolRefused as refusal:
        raise ToolRefused("; ".join([*unread, str(refusal)])) from None


def checked(request: str, materials: Materials, material: str, objectives: str) -> dict[str, Any]:
    """Judge the objectives given, else those of the materials."""
    if objectives.strip():
        return _assessed(objectives_in(objectives), [])
    held = chosen(material, materials, holds_objectives)
    unread = [] if material else list(_unread(materials, objectives_of))
    found = [each for name, text in held.items() for each in objectives_of(name, text)]
    return _assessed(found, unread)


def _assessed(found: Sequence[Objective], unread: Sequence[str]) -> dict[str, Any]:
    failures, most = list(unread), MAX_OBJECTIVES
    if len(found) > most:
        failures.append(f"only the first {most} of {len(found)} objectives were checked")
    return _with_unread(lambda: assessed(found[:most]), failures)


def measured(
    request: str, materials: Materials, material: str, target_grade: float
) -> dict[str, Any]:
    """Measure the materials that are prose."""
    return difficulty(chosen(material, materials, is_prose), target_of(request, target_grade))


WORK: Mapping[str, Callable[..., dict[str, Any]]] = {
    "plan": planned,
    "check": checked,
    "measure": measured,
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{work, given}` with `{told}`, or with why not: `{objection}`."""
    given = request["given"]
    asked = f"{given['request']} {given.get('objectives', '')}"
    try:
        told = not_of_teaching(asked, given["materials"]) or WORK[request["work"]](**given)
    except ToolRefused as refusal:
        return {"objection": str(refusal)}
    return {"told": told}


if __name__ == "__main__":
    serve(answer)
