"""Prompts and replies as the trace holds them."""

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage

from nodes.errors.redaction import redact_text
from nodes.prompts.tags import shorten_text

MAX_MESSAGE_CHARS: Final = 20_000
"""Limit for one message; the rest is cut."""


def describe_messages(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Return messages as JSON: the role, the text, and the tool calls of a model."""
    return [_describe_message(message) for message in messages]


def _describe_message(message: BaseMessage) -> dict[str, Any]:
    described: dict[str, Any] = {
        "role": message.type,
        "text": shorten_text(redact_text(message.text), MAX_MESSAGE_CHARS),
    }
    if isinstance(message, AIMessage) and message.tool_calls:
        described["tool_calls"] = [
            {"name": call["name"], "args": call["args"]} for call in message.tool_calls
        ]
    return described
