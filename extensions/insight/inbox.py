"""The questions that wait for a human over all threads, and what a user's rules answer to them.

What a question holds was written by a model, a tool or a server: it is data, and is cut and cleaned
before it is shown. An answer is for the question as it was listed, never for a later one.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from graph.extensions import RunSource
from graph.runs.event_log import FORM_ERRORS
from graph.runs.trace import ThreadUnknown, TraceUnreadable
from graph.stores.thread_locks import check_thread_id
from graph.stores.trace_lines import format_trace_line
from graph.topology.answers import Question
from nodes.errors import UsageError
from nodes.text.finite_json import parse_finite_json

ACCEPTED: Final[Mapping[str, Any]] = {"accept": True}
REJECTED: Final[Mapping[str, Any]] = {"reject": "by a rule of the inbox"}


class QuestionChanged(UsageError):
    """A thread asks another question than the one that was listed."""


@dataclass(frozen=True)
class Waiting:
    """A thread that waits for a human."""

    thread: str
    team: str
    request: str
    questions: Sequence[Question]
    asked_at: datetime | None
    """None where the log does not say it."""
    tasks: Mapping[str, Mapping[str, Any]]
    """Of the last plan, by id."""

    def measure_age_s(self) -> float | None:
        """Return for how long it waits; a clock that went back counts as no time."""
        now = datetime.now(UTC)
        return max(0.0, (now - self.asked_at).total_seconds()) if self.asked_at else None

    def list_blocked(self, question: Question) -> list[str]:
        """Return the unended tasks that cannot continue before a question has its answer."""
        asking = str(question.get("task") or "")
        found = {name for name, task in self.tasks.items() if _holds_task(task, asking)}
        if not asking:  # about the plan of the run
            found = {*self.tasks}
        for _ in self.tasks:  # a longest chain has as many tasks
            found |= {name for name, task in self.tasks.items() if found & _list_needs(task)}
        unended = ("waiting", "working")
        return [n for n, task in self.tasks.items() if n in found and task["status"] in unended]

    def list_done(self) -> list[str]:
        """Return the tasks that have a result."""
        return [name for name, task in self.tasks.items() if task["status"] == "completed"]


def _holds_task(task: Mapping[str, Any], name: str) -> bool:
    """Return whether a task is the named one, or is done by a team that has it."""
    inner = (task.get("team") or {}).get("tasks") or ()
    return task["id"] in (name, name.partition("/")[0]) or any(_holds_task(e, name) for e in inner)


def _list_needs(task: Mapping[str, Any]) -> set[str]:
    edges = task.get("depends_on") or ()
    return {str(edge["task"] if isinstance(edge, Mapping) else edge) for edge in edges}


def read_inbox(runs: RunSource, team: str | None = None) -> tuple[list[Waiting], list[str]]:
    """Return what waits, the longest first, of one team or all, and the threads with no good log.

    Raises:
        SupervisorError: the server of the runs cannot be used.
    """
    waiting, unreadable = list[Waiting](), list[str]()
    for thread in runs.list_threads():
        try:
            found = _read_waiting(check_thread_id(thread), runs.load_trace(thread))
        except ThreadUnknown:  # another process has just removed it
            continue
        except (*FORM_ERRORS, TraceUnreadable):
            unreadable.append(thread)
            continue
        if found and team in (None, found.team):
            waiting.append(found)
    unknown = datetime.max.replace(tzinfo=UTC)
    return sorted(waiting, key=lambda each: each.asked_at or unknown), unreadable


def _read_waiting(thread: str, trace: Mapping[str, Any]) -> Waiting | None:
    run = trace["run"]
    if run.get("status") != "needs_input" or not run.get("questions"):
        return None
    return Waiting(
        thread=thread,
        team=str(run.get("team") or ""),
        request=str(run.get("request") or ""),
        questions=[{**each, "id": str(each["id"])} for each in run["questions"]],
        asked_at=_read_asked_at(run, trace["events"]),
        tasks={str(task["id"]): task for task in trace["tasks"]},
    )


def _read_asked_at(run: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> datetime | None:
    """Return when a run has asked: as its log says, else its start and the run's own clock."""
    with suppress(*FORM_ERRORS):
        known, passed = run.get("asked_at"), 0.0
        if not known and not run.get("resumed"):
            known, passed = run["started"], float(events[-1]["t"])
        time = datetime.fromisoformat(str(known)) + timedelta(seconds=passed)
        return time if time.tzinfo else time.replace(tzinfo=UTC)
    return None


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a user answers to all questions of a kind.

    Raises:
        UsageError: a value names no kind of question, or no tool.
    """

    accept: Sequence[str] = ()
    """`plan`, or `tool_call:NAME`."""
    reject: Sequence[str] = ()
    """The same, and `question`; it counts before `accept`."""
    plans_below_usd: float | None = None
    """Plans that cost less in 9 of 10 runs, as expected, are accepted."""

    def __post_init__(self) -> None:
        for option, values in (("accept", self.accept), ("reject", self.reject)):
            words = ("plan",) if option == "accept" else ("plan", "question")
            for value in values:
                if value not in words and not value.partition("tool_call:")[2]:
                    raise UsageError(
                        f"--{option} {value!r:.80} is no rule",
                        next=f"write {', '.join(words)} or tool_call:NAME",
                    )

    def decide(self, question: Question) -> Mapping[str, Any] | None:
        """Return the reply to a question; None where no rule is about it.

        One that is asked again, since an answer to it could not be used, is a human's alone.
        """
        if question.get("problems"):
            return None
        kind = str(question.get("kind"))
        named = f"{kind}:{question.get('tool')}" if kind == "tool_call" else kind
        if named in self.reject:
            return REJECTED
        is_cheap = kind == "plan" and self._is_cheap(question)
        return ACCEPTED if is_cheap or named in self.accept else None

    def _is_cheap(self, question: Question) -> bool:
        """Return whether the upper end of what a plan costs is known, and below the limit."""
        expected = question.get("estimate") or {}
        cost, limit = (expected.get("high") or expected).get("cost_usd"), self.plans_below_usd
        return cost is not None and limit is not None and float(cost) < limit


def require_listed(waiting: Waiting, asked: Sequence[Question]) -> None:
    """Refuse to answer where a thread asks something else than what was listed.

    Raises:
        QuestionChanged: another human has answered, or the run has continued.
    """
    if _normalize(asked) != _normalize(waiting.questions):
        raise QuestionChanged(
            f"thread {waiting.thread!r} does not ask any more what was listed",
            kept="the thread as it is",
            next="supervise inbox",
        )


def _normalize(questions: Sequence[Question]) -> Any:
    """Return questions as a log keeps them: without secrets, numbers that are none as null."""
    return parse_finite_json(format_trace_line({"asked": list(questions)}))
