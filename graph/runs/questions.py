"""The open questions of a thread, and the assignment of answers to them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.types import Command, StateSnapshot

from nodes.errors import UsageError

Question = Mapping[str, Any]
"""`id`, `kind` (`plan` or `question`), and the question itself."""


class NoOpenQuestion(UsageError):
    """An answer was given, and no question is open."""

    code = "NOTHING_ASKED"


class AnswerUnclear(UsageError):
    """Several questions are open, and the answer does not name its question."""

    code = "ANSWER_UNCLEAR"


def list_open_questions(snapshot: StateSnapshot) -> list[dict[str, Any]]:
    """Return the open questions of a run, in the order in which they were asked."""
    return [
        {"id": asked.id, **(asked.value if isinstance(asked.value, dict) else {"is": asked.value})}
        for asked in snapshot.interrupts
    ]


def build_answer_command(thread: str, questions: Sequence[Question], answer: str) -> Command[Any]:
    """Build the command that answers a question; several take a JSON object by task or id.

    Raises:
        NoOpenQuestion: no question is open.
        AnswerUnclear: the answer does not name its question.
    """
    if not questions:
        raise NoOpenQuestion(
            f"thread {thread!r} has no open question", next="resume it without --answer"
        )
    if len(questions) == 1:
        return Command(resume={questions[0]["id"]: answer})
    names = {question.get("task") or question["id"]: question["id"] for question in questions}
    try:
        replies = json.loads(answer)
    except json.JSONDecodeError:
        replies = None
    known = set(names) | set(names.values())
    if not isinstance(replies, dict) or not set(replies) <= known or not replies:
        raise AnswerUnclear(
            f"{len(questions)} questions are open",
            next=f"answer with a JSON object; its keys are one or more of {', '.join(names)}",
        )
    return Command(resume={names.get(name, name): reply for name, reply in replies.items()})
