"""Workers whose tools only take written text: without a language model nothing writes it."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool

from nodes.errors import TeamInvalid
from nodes.schemas.team import Team
from nodes.text.request_parts import is_question
from nodes.text.similarity import extract_stems
from nodes.text.word_lists import INSPECTING_VERBS
from nodes.tools.framework.catalog import load_tools
from nodes.tools.framework.settings import ToolSettings
from state import Plan, Task

LACKING = "needs a language model"
_WRITTEN = frozenset(("markdown", "html", "text", "texts", "code", "content", "body"))
"""Names of arguments that hold what the caller has written."""


def add_unwritten(plan: Plan, team: Team) -> Plan:
    """Return a plan by rule with the parts that a model would have to write among the untaken."""
    unwritten = [format_unwritten(task, plan.goal) for task in plan.tasks if _writes(team, task)]
    untaken = tuple(dict.fromkeys((*plan.untaken, *unwritten)))
    return plan.model_copy(update={"untaken": untaken}) if untaken else plan


def format_unwritten(task: Task, goal: str) -> str:
    """Return the part of the request that a task would have to write, with what that needs."""
    return f"{task.asked or goal} ({LACKING})"


def drop_remark(part: str) -> str:
    """Return the words of the request in a part that would have to be written."""
    return part.removesuffix(f" ({LACKING})")


def _writes(team: Team, task: Task) -> bool:
    """Return whether a task's worker would have to write what the task is about.

    That is so without tools, and where each tool takes written text, unless there is a file to
    check: the task asks a question, or has a verb of checks or of the worker's examples with files.
    """
    worker = team.find_worker(task.worker)
    if worker.team or worker.remote:
        return False
    if not all(_takes_written_text(name, team) for name in worker.tools):
        return False
    shown = (each for example in team.examples for each in example.plan.tasks)
    verbs = [t.description.split()[0] for t in shown if t.worker == worker.name and t.materials]
    wanted = task.asked or task.description
    checks = extract_stems(wanted) & extract_stems(" ".join((*INSPECTING_VERBS, *verbs)))
    return not (worker.tools and task.materials and (checks or is_question(wanted)))


def _takes_written_text(name: str, team: Team) -> bool:
    """Return whether a tool takes written text as a whole, or in the stead of a file."""
    schema = _read_schema(name, team.name, tuple(team.own_tools.items()))
    written = _WRITTEN & set(schema.get("properties", ()))
    if "markdown" in written or "html" in written:
        return True
    return bool(written - set(schema.get("required", ())))


@lru_cache(maxsize=256)
def _read_schema(name: str, team: str, own: Iterable[Any]) -> dict[str, Any]:
    """Return the parameters of a tool; none of one that cannot be loaded here."""
    try:
        (tool,) = load_tools([name], ToolSettings(), dict(own))
    except (TeamInvalid, ValueError, TypeError):
        return {}
    parameters: dict[str, Any] = convert_to_openai_tool(tool)["function"].get("parameters") or {}
    return parameters
