"""What workers can do with their tools, and what of a request a language model has to write."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool

from nodes.errors import TeamInvalid
from nodes.limits.patterns import Pattern
from nodes.limits.recorder import read_outside
from nodes.schemas.team import Team, Worker
from nodes.text.request_parts import is_question
from nodes.text.similarity import extract_stems
from nodes.text.word_lists import DETERMINERS, INSPECTING_VERBS
from nodes.tools.framework.catalog import load_tools
from nodes.tools.framework.settings import ToolSettings
from state import Plan, Task


def explain_misfit(task: Task, worker: Worker, team: Team) -> str | None:
    """Return in one sentence why a worker cannot do a task; None unless that is clear.

    Only capabilities that need a tool are checked: one that the description begins with, and that
    nothing in the worker's name, description or tools offers. A worker with a tool of the user's
    own, whose name does not describe it, is accepted, as is one on another server.
    """
    text = task.description.strip()
    capability = next((each for each in _CAPABILITIES if each.request_pattern.match(text)), None)
    if capability is None or worker.remote or capability.is_offered_by(worker):
        return None
    able = [member.name for member in team.roster if capability.is_offered_by(member)]
    if able:
        return f"{worker.name} has no tool to {capability.verb}; give it to {' or '.join(able)}"
    if any(map(_has_unclear_tools, (worker, *team.roster))):
        return None
    return f"no worker of the team has a tool to {capability.verb}; plan only what its tools can do"


@dataclass(frozen=True)
class _Capability:
    """Something that needs a tool: how tasks ask for it, and how workers' cards offer it."""

    verb: str
    request_pattern: Pattern
    card_pattern: Pattern

    def is_offered_by(self, worker: Worker) -> bool:
        card = f"{worker.card} {' '.join(worker.tools)}"
        return bool(self.card_pattern.search(card.replace("_", " ")))


def _build_capability(verb: str, asked: str, offered: str) -> _Capability:
    return _Capability(
        verb,
        Pattern(rf"(?:please\s+)?(?:{asked})", re.IGNORECASE),
        Pattern(rf"\b(?:{offered})", re.IGNORECASE),
    )


_CAPABILITIES = (
    _build_capability(
        "search the web",
        r"(?:search|browse|google|crawl|scrape)\b[^.;]{0,20}\b(?:web|internet|online)\b"
        r"|google\b|scrape\b",
        r"web|internet|online|brows|search|crawl|scrap|news|fetch|http",
    ),
    _build_capability(
        "open a web page",
        r"(?:fetch|download|open|visit|browse|scrape)\b[^.;]{0,30}\bhttps?://",
        r"web|fetch|page|brows|url|http|download|crawl|scrap",
    ),
    _build_capability(
        "query a database",
        r"(?:run|execute|write and run)\b[^.;]{0,20}\bsql\b|query\b[^.;]{0,20}\b(?:database|sql)\b",
        r"sql|quer|database|db\b|tables?\b|warehouse|duckdb|postgres",
    ),
    _build_capability(
        "send a message",
        r"(?:send|e-?mail)\b[^.;]{0,30}\b(?:e-?mails?|sms|text message|slack message)\b"
        r"|e-?mail\s+(?:the|our|all|every|\w+@)",
        r"send|mail|smtp|sms|slack|messag|notif|outreach|outbound",
    ),
    _build_capability(
        "run code",
        r"(?:run|execute)\b[^.;]{0,25}\b(?:script|code|program|tests?|test suite|command)\b",
        r"run|execut|shell|bash|terminal|sandbox|interpreter|python|code|test|command|ci\b",
    ),
    _build_capability(
        "deploy",
        r"(?:deploy|roll\s+(?:out|back))\s+(?:(?:the|our|a|an|version)\b|v?\d|\S+\s+to\b)",
        r"deploy|release|roll|kube|helm|terraform|ops\b|operat|infra|ci\b|cd\b|shell|bash",
    ),
    _build_capability(
        "book or buy",
        r"(?:book|reserve|purchase|buy|pay)\s+(?:the|our|a|an|two|\d+)\b",
        r"book|reserv|purchas|buy|pay|order|trad|broker|checkout|shop",
    ),
    _build_capability(
        "make a call",
        r"(?:call|phone|dial)\s+(?:(?:the|our|a|an)\s*)?"
        r"(?:customers?|clients?|suppliers?|office|landlord|patients?|\+?\d)",
        r"call|phone|dial|voice|telephon|twilio",
    ),
)
_DESCRIPTIVE_NAME = Pattern(
    r"search|fetch|page|quer|calc|comput|read|list|extract|check|format|write|draft|find|lookup"
    r"|look|parse|score|compare|lint|scan|outline|template|document|report|table|chart|catalog|plan"
)


def _has_unclear_tools(worker: Worker) -> bool:
    """Return whether a worker may have a tool whose name does not describe it."""
    if worker.remote is not None:
        return True
    return any(":" in name or not _DESCRIPTIVE_NAME.search(name.lower()) for name in worker.tools)


LACKING = "needs a language model"
_WRITTEN = frozenset(("markdown", "html", "text", "texts", "code", "content", "body"))
"""Names of arguments that hold what the caller has written."""


def add_unwritten(plan: Plan, team: Team) -> Plan:
    """Return a plan by rule with the parts that a model would have to write among the untaken."""

    def list_unwritten() -> list[str]:
        return [format_unwritten(each, plan.goal) for each in plan.tasks if _writes(team, each)]

    # A replay loads no tool, least of all one from a folder that a record names.
    unwritten = read_outside("unwritten parts", list_unwritten, usual=[])
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
    check: the task asks a question, or has a verb of checks or of the worker's examples with files
    and does not begin with the text that is wanted.
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
    is_named = not DETERMINERS.isdisjoint(wanted.lower().split()[:1])  # "An analysis of notes.md"
    is_check = is_question(wanted) or bool(checks and not is_named)
    return not (worker.tools and task.materials and is_check)


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
