"""The shipped course, and work on course materials without a process for each test."""

from pathlib import Path
from typing import Any

from nodes.errors import ToolRefused
from teams.curriculum.tools.learning.child_program import answer_request

EXAMPLES = Path(__file__).parents[3] / "teams" / "curriculum" / "sample"


def run_course_work(kind: str, request: str, **given: Any) -> dict[str, Any]:
    """Do what the tool has its child do, and refuse as it would."""
    result = answer_request({"work": kind, "given": {"request": request, "material": "", **given}})
    if objection := result.get("objection"):
        raise ToolRefused(objection)
    found: dict[str, Any] = result["told"]
    return found
