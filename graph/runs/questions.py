"""What a thread asks a person, and how an answer reaches the question it belongs to."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.types import Command, StateSnapshot

from nodes.errors import UsageError

Question = Mapping[str, Any]
"""`id`, `kind` (`plan` or `question`), and what is asked."""


class NoOpenQuestion(UsageError):
    """An answer was given, and no question is open."""

    code = "NOTHING_ASKED"


class AnswerUnclear(UsageError):
    """Several questions are open, and the answer does not say which it is for."""

    code = "ANSWER_UNCLEAR"


def list_open_questions(snapshot: StateSnapshot) -> list[dict[str, Any]]:
    """Return the questions that a run waits on, in the order they came up."""
    return [
        {"id": asked.id, **(asked.value if isinstance(asked.value, dict) else {"is": asked.value})}
        for asked in snapshot.interrupts
    ]


def build_answer_command(thread: str, questions: Sequence[Question], answer: str) -> Command[Any]:
    """Send an answer to its question; with several open, a JSON object keyed by task or id.

    Raises:
        NothingAsked: no question is open.
        AnswerUnclear: it cannot be told which question is meant.
    """
    if not questions:
        raise NoOpenQuestion(f"thread {thread!r} asks nothing", next="resume it without --answer")
    if len(questions) == 1:
        return Command(resume={questions[0]["id"]: answer})
    names = {question.get("task") or question["id"]: question["id"] for question in questions}
    try:
        told = json.loads(answer)
    except json.JSONDecodeError:
        told = None
    if not isinstance(told, dict) or not set(told) <= set(names) | set(names.values()) or not told:
        raise AnswerUnclear(
            f"{len(questions)} questions are open",
            next=f"answer with a JSON object; its keys are of {', '.join(names)}",
        )
    return Command(resume={names.get(name, name): reply for name, reply in told.items()})
