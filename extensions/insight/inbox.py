"""The questions that wait for a human over all threads, and what a user's rules answer to them.

What a question holds was written by a model, a tool or a server: it is data, and is cut and cleaned
before it is shown. An answer is for the question as it was listed, never for a later one.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from graph.commands.runs import MIN_PREFIX_CHARS, Runs
from graph.runs.event_log import FORM_ERRORS
from graph.runs.trace import ThreadUnknown, TraceUnreadable
from graph.stores.thread_locks import check_thread_id
from graph.stores.trace_lines import format_trace_line
from graph.topology.answers import Question
from nodes.errors import UsageError
from nodes.text.finite_json import parse_finite_json

ACCEPTED: Final[Mapping[str, Any]] = {"accept": True}
REJECTED: Final[Mapping[str, Any]] = {"reject": "by a rule of the inbox"}
RULE_KINDS: Final = ("plan", "question", "tool_call")


class QuestionChanged(UsageError):
    """A thread asks another question than the one that was listed."""

    code = "QUESTION_CHANGED"


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

    def measure_age_s(self, now: datetime) -> float | None:
        """Return for how long it waits; a clock that went back counts as no time."""
        return max(0.0, (now - self.asked_at).total_seconds()) if self.asked_at else None

    def list_blocked(self, question: Question) -> list[str]:
        """Return the unended tasks that cannot continue before a question has its answer."""
        asking = self._find_asking(question)
        if not asking:  # about the plan of the run
            return [name for name in self.tasks if not self._has_ended(name)]
        found = {asking}
        for _ in self.tasks:  # a longest chain has as many tasks
            found |= {name for name in self.tasks if found & self._list_needs(name)}
        return [name for name in self.tasks if name in found and not self._has_ended(name)]

    def list_done(self) -> list[str]:
        """Return the tasks that have a result."""
        return [name for name, task in self.tasks.items() if task.get("status") == "completed"]

    def _find_asking(self, question: Question) -> str:
        """Return the task of the run's plan in which a question is asked; empty for none."""
        asking = str(question.get("task") or "")
        outer = asking.partition("/")[0]
        if not asking or outer in self.tasks:
            return outer
        holders = [name for name, task in self.tasks.items() if _holds_task(task, asking)]
        return holders[0] if holders else ""

    def _has_ended(self, name: str) -> bool:
        return self.tasks[name].get("status") not in ("waiting", "working")

    def _list_needs(self, name: str) -> set[str]:
        edges = self.tasks[name].get("depends_on") or ()
        return {str(edge["task"] if isinstance(edge, Mapping) else edge) for edge in edges}


def _holds_task(task: Mapping[str, Any], name: str) -> bool:
    inner = (task.get("team") or {}).get("tasks") or ()
    return any(each.get("id") == name or _holds_task(each, name) for each in inner)


@dataclass
class Inbox:
    """The threads that wait, the one that waits longest first, and those that cannot be read."""

    waiting: list[Waiting] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def find(self, name: str) -> Waiting | None:
        """Return the listed thread of a name, or of the beginning of one; None if none waits.

        Raises:
            UsageError: several begin like this.
        """
        fitting = [each for each in self.waiting if each.thread.startswith(name)]
        exact = [each for each in fitting if each.thread == name]
        if len(fitting) > 1 and not exact:
            raise UsageError(f"{len(fitting)} waiting threads begin with {name!r}")
        found = exact or (fitting if len(name) >= MIN_PREFIX_CHARS else [])
        return found[0] if found else None


def read_inbox(runs: Runs, team: str | None = None) -> Inbox:
    """Return what waits among the runs, of one team or all.

    Raises:
        SupervisorError: the server of the runs cannot be used.
    """
    inbox = Inbox()
    for thread in runs.list_threads():
        try:
            found = _read_waiting(check_thread_id(thread), runs.load_trace(thread))
        except ThreadUnknown:  # another process has just removed it
            continue
        except (*FORM_ERRORS, TraceUnreadable):
            inbox.unreadable.append(thread)
            continue
        if found and team in (None, found.team):
            inbox.waiting.append(found)
    unknown = datetime.max.replace(tzinfo=UTC)
    inbox.waiting.sort(key=lambda each: each.asked_at or unknown)
    return inbox


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


def read_cost(question: Question) -> float | None:
    """Return what a plan costs at most in 9 of 10 runs, in US dollars; None if it is unknown."""
    expected = question.get("estimate") or {}
    cost = (expected.get("high") or expected).get("cost_usd")
    return None if cost is None else float(cost)


def _read_asked_at(run: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> datetime | None:
    """Return when a run has asked: as its log says, else its start and the run's own clock."""
    with suppress(ValueError, TypeError, LookupError, OverflowError):
        if run.get("asked_at"):
            return _read_time(str(run["asked_at"]))
        if not run.get("resumed") and events:
            return _read_time(str(run["started"])) + timedelta(seconds=float(events[-1]["t"]))
    return None


def _read_time(written: str) -> datetime:
    time = datetime.fromisoformat(written)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a user answers to all questions of a kind."""

    accept: frozenset[str] = frozenset()
    """`plan`, or `tool_call:NAME`."""
    reject: frozenset[str] = frozenset()
    """The same, and `question`; it counts before `accept`."""
    plans_below_usd: float | None = None
    """Plans that cost less in 9 of 10 runs, as expected, are accepted."""

    def decide(self, question: Question) -> Mapping[str, Any] | None:
        """Return the reply to a question; None where no rule is about it."""
        kind = str(question.get("kind"))
        named = f"{kind}:{question.get('tool')}" if kind == "tool_call" else kind
        if named in self.reject:
            return REJECTED
        is_cheap = kind == "plan" and self._is_cheap(question)
        return ACCEPTED if is_cheap or (named in self.accept and kind != "question") else None

    def _is_cheap(self, question: Question) -> bool:
        cost, limit = read_cost(question), self.plans_below_usd
        return cost is not None and limit is not None and cost < limit


def parse_rules(accept: Sequence[str], reject: Sequence[str], below: float | None) -> Rules:
    """Return the rules of the options.

    Raises:
        UsageError: a value names no kind of question, or no tool.
    """
    for option, values in (("--accept", accept), ("--reject", reject)):
        for value in values:
            kind, _, name = value.partition(":")
            is_whole = bool(name) == (kind == "tool_call")
            if kind not in RULE_KINDS or not is_whole or (option, kind) == ("--accept", "question"):
                kinds = "plan or tool_call:NAME" + (", or question" if option == "--reject" else "")
                raise UsageError(f"{option} {value!r} is no rule", next=f"write {kinds}")
    return Rules(accept=frozenset(accept), reject=frozenset(reject), plans_below_usd=below)


def parse_answers(given: Sequence[str], inbox: Inbox) -> dict[str, str]:
    """Return the answers by their threads, each as the user has named it or as it is listed.

    Raises:
        UsageError: one has not the form THREAD=TEXT, or a thread is named twice.
    """
    found = dict[str, str]()
    for each in given:
        name, equals, text = each.partition("=")
        if not (name.strip() and equals and text.strip()):
            raise UsageError(f"--answer {each!r:.80} has no thread and text", next="THREAD=TEXT")
        listed = inbox.find(name.strip())
        thread = listed.thread if listed else name.strip()
        if thread in found:
            raise UsageError(f"--answer names thread {thread!r:.80} twice", next="name it once")
        found[thread] = text.strip()
    return found


def decide_replies(waiting: Waiting, answer: str | None, rules: Rules) -> str:
    """Return the answer to a thread, with the ids of its questions; empty for none.

    A user's own words are for the first question, or name the questions; no rule is added to them.
    """
    if answer is not None:
        is_named = bool(_list_keys(answer) & _list_names(waiting.questions))
        return answer if is_named else json.dumps({waiting.questions[0]["id"]: answer})
    decided = {each["id"]: rules.decide(each) for each in waiting.questions}
    replies = {name: reply for name, reply in decided.items() if reply is not None}
    return json.dumps(replies) if replies else ""


def _list_keys(answer: str) -> set[str]:
    """Return the keys of an answer that is a JSON object."""
    with suppress(ValueError):
        found = parse_finite_json(answer)
        return set(found) if isinstance(found, dict) else set()
    return set()


def _list_names(questions: Sequence[Question]) -> set[str]:
    return {str(each[key]) for each in questions for key in ("id", "task") if each.get(key)}


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
    return parse_finite_json(format_trace_line({"asked": list(questions)}))["asked"]
