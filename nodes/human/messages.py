"""Writes a question to a human as a message of the chat, for clients that show only the chat."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage

from nodes.human.request import describe_plan
from state import Plan

ASKS_KEY: Final = "asks"
"""Key of a chat message's `additional_kwargs`: the kind of the question that it asks."""
_HINTS: Final = {
    "plan": "Approve the plan, edit it, or say what to change.",
    "question": "Reply with the answer, in words.",
    "tool_call": "Approve the call, edit its arguments, or reject it.",
}


def build_plan_message(plan: Plan) -> AIMessage:
    """Return the message that proposes a plan; several teams may share a chat."""
    text = f"{describe_plan(plan)}\n\n{_HINTS['plan']}"
    return AIMessage(text, id=f"plan-{uuid4()}", additional_kwargs={ASKS_KEY: "plan"})


def is_question(message: AnyMessage) -> bool:
    """Return whether a chat message asks a human, and so answers no request."""
    return isinstance(message, AIMessage) and ASKS_KEY in message.additional_kwargs


def build_question_message(interrupt: str, value: Any) -> AIMessage | None:
    """Return the message for an open question; None for one that the chat contains already.

    Those are proposals of plans, and questions of a tool of the user's own.

    Args:
        interrupt: its id, from which that of the message is made.
    """
    kind = value.get("kind") if isinstance(value, Mapping) else None
    if kind not in _HINTS:
        return None
    problems, task = value.get("problems") or (), value.get("task", "")
    if kind == "plan" and not problems and not task:
        return None
    asker = " of ".join(filter(None, (value.get("worker"), task and f"task {task}")))
    opening = f"**Question{f' ({asker})' if asker else ''}:** {value['description']}"
    text = "; ".join(problems) if problems else opening
    return AIMessage(
        f"{text}\n\n{_HINTS[kind]}",
        id=f"question-{interrupt}",
        additional_kwargs={ASKS_KEY: kind},
    )
