"""The child process that reads course materials; `work.py` asks it, one task a process.

A text that is made for it keeps a reader of YAML or Markdown busy for a long time.
"""

from collections.abc import Callable, Mapping
from typing import Any

from nodes.errors import ToolRefused
from nodes.tools.isolation import serve
from nodes.tools.learning.assessment import assessed
from nodes.tools.learning.chosen import chosen, not_of_teaching
from nodes.tools.learning.difficulty import difficulty, target_of
from nodes.tools.learning.objectives import holds_objectives, objectives_in, objectives_of
from nodes.tools.learning.plan import plan
from nodes.tools.learning.prose import is_prose
from nodes.tools.learning.topics import holds_topics
from nodes.tools.learning.weeks import frame_of

Materials = Mapping[str, str]


def planned(
    request: str, materials: Materials, material: str, weeks: int, hours_a_week: float
) -> dict[str, Any]:
    """Order the topics of the materials that list some."""
    frame = frame_of(request, weeks, hours_a_week)
    return plan(request, chosen(material, materials, holds_topics), frame)


def checked(request: str, materials: Materials, material: str, objectives: str) -> dict[str, Any]:
    """Judge the objectives given, else those of the materials."""
    if objectives.strip():
        return assessed(objectives_in(objectives))
    held = chosen(material, materials, holds_objectives)
    return assessed([each for name, text in held.items() for each in objectives_of(name, text)])


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
