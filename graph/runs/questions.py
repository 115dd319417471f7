"""The answer that a resume gives to the open questions of a thread."""

from collections.abc import Sequence
from typing import Any

from langgraph.types import Command

from graph.topology.answers import NoOpenQuestion, Question, assign_answer


def build_answer_command(thread: str, questions: Sequence[Question], answer: str) -> Command[Any]:
    """Build the command that answers the first question, or several by a JSON object.

    The object's keys are tasks or ids of questions.

    Raises:
        NoOpenQuestion: no question is open.
        AnswerUnclear: the answer names a question that is not open.
    """
    if not questions:
        raise NoOpenQuestion(
            f"thread {thread!r} has no open question", next="resume it without an answer"
        )
    return Command(resume=assign_answer(answer, questions))
