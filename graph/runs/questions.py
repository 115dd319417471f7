"""The open questions of a thread, and the assignment of answers to them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from langgraph.types import Command, StateSnapshot

from nodes.errors import UsageError
from nodes.human.request import CLIENT_KEYS, RequestKind
from nodes.text.counts import format_count

Question = Mapping[str, Any]
"""`id`, `kind` (`plan` or `question`), and the question itself."""


class NoOpenQuestion(UsageError):
    """An answer was given, and no question is open."""

    code = "NOTHING_ASKED"


class AnswerUnclear(UsageError):
    """The answer does not name its question, or one that is not open."""

    code = "ANSWER_UNCLEAR"


def list_open_questions(snapshot: StateSnapshot) -> list[dict[str, Any]]:
    """Return the open questions of a run, in the order in which they were asked."""
    return [{"id": asked.id, **_select_content(asked.value)} for asked in snapshot.interrupts]


def _select_content(value: Any) -> Mapping[str, Any]:
    """Return what a question says, without the same in the form that graphical clients show."""
    if not isinstance(value, Mapping):
        return {"is": value}
    is_ours = value.get("kind") in get_args(RequestKind)
    return {n: v for n, v in value.items() if not (is_ours and n in CLIENT_KEYS)}


def build_answer_command(thread: str, questions: Sequence[Question], answer: str) -> Command[Any]:
    """Build the command that answers a question; several take a JSON object by task or id.

    One question that is not about a plan may be answered like this, too.

    Raises:
        NoOpenQuestion: no question is open.
        AnswerUnclear: the answer does not name its question.
    """
    if not questions:
        raise NoOpenQuestion(
            f"thread {thread!r} has no open question", next="resume it without --answer"
        )
    names = {question.get("task") or question["id"]: question["id"] for question in questions}
    try:
        replies = json.loads(answer)
    except (json.JSONDecodeError, RecursionError):
        replies = None
    # A plan is edited as an object of its own.
    is_by_task = isinstance(replies, dict) and not (
        len(questions) == 1 and questions[0].get("kind") == "plan"
    )
    if len(questions) == 1 and not is_by_task:
        return Command(resume={questions[0]["id"]: answer})
    known = set(names) | set(names.values())
    if not is_by_task or not set(replies) <= known or not replies:
        raise AnswerUnclear(
            _describe_mismatch(replies, known, len(questions)),
            next=f"answer with a JSON object; its keys are one or more of {', '.join(names)}",
        )
    return Command(resume={names.get(name, name): reply for name, reply in replies.items()})


def _describe_mismatch(replies: Any, known: set[str], count: int) -> str:
    """Return what is wrong with an answer by task: an unknown name, or none at all."""
    unknown = [name for name in replies if name not in known] if isinstance(replies, dict) else []
    if unknown:
        return f"no open question of {', '.join(map(repr, unknown))}"
    return f"{format_count(count, 'question')} open, and the answer names none"
