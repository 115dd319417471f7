"""Workers whose tools only take written text: without a language model nothing writes it."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool

from nodes.errors import TeamInvalid
from nodes.schemas.team import Team
from nodes.text.request_parts import is_question
from nodes.text.similarity import extract_stems
from nodes.text.word_lists import DETERMINERS, INSPECTING_VERBS, WRITING_VERBS
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

    That is so without tools, and where each tool takes written text and there is no file to check,
    or no word of an example in which the worker checks one; or the task asks for a text: it begins
    with what is wanted, or has a verb of the examples in which the worker has no file.
    """
    worker = team.find_worker(task.worker)
    if worker.team or worker.remote:
        return False
    if not worker.tools:
        return True
    if not all(_takes_written_text(name, team) for name in worker.tools):
        return False
    wanted = task.asked or task.description
    if not task.materials or _asks_for_text(wanted, _list_writing_verbs(team, worker.name)):
        return True
    asks_for_check = is_question(wanted) or extract_stems(wanted) & _list_checking_verbs(team, task)
    return not asks_for_check or extract_stems(wanted).isdisjoint(_list_checking_words(team, task))


def _asks_for_text(wanted: str, verbs: frozenset[str]) -> bool:
    first = wanted.lower().split()[:1]
    is_named = not is_question(wanted) and not DETERMINERS.isdisjoint(first)
    return is_named or bool(extract_stems(wanted) & verbs)


def _list_checking_words(team: Team, task: Task) -> set[str]:
    """Return the words of the files and of examples in which a task's worker has a file."""
    shown = (
        f"{example.request} {each.description}"
        for example in team.examples
        for each in example.plan.tasks
        if each.worker == task.worker and each.materials
    )
    return extract_stems(" ".join((*shown, *task.materials)))


def _list_checking_verbs(team: Team, task: Task) -> set[str]:
    """Return the verbs of checks, and the first words of the tasks that a worker has with files."""
    tasks = (each for example in team.examples for each in example.plan.tasks)
    shown = [t.description for t in tasks if t.worker == task.worker and t.materials]
    return extract_stems(" ".join((*INSPECTING_VERBS, *(each.split()[0] for each in shown))))


def _list_writing_verbs(team: Team, worker: str) -> frozenset[str]:
    """Return the first words of the tasks that a worker has without a file in examples."""
    tasks = (task for example in team.examples for task in example.plan.tasks)
    shown = [task.description for task in tasks if task.worker == worker and not task.materials]
    return frozenset(
        extract_stems(" ".join((*WRITING_VERBS, *(each.split()[0] for each in shown))))
    )


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
