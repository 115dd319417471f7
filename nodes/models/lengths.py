"""How long a prompt may be, and an answer.

A prompt that is longer than the model's window is shortened in its longest parts. Without a limit
for its answer, a small model that does not find its end writes until its context is full.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, SystemMessage

from nodes.errors import ContextTooSmall
from nodes.models.request_form import EndpointKind
from nodes.models.run_context import REPORT, name_requested_schema
from nodes.models.settings import DEFAULT_OUTPUT_TOKENS, OutputPurpose
from nodes.text.lines import share_room

SHORTENED = "shortened"
"""Metadata key of a reply: what was left out of its prompt, in words for a human."""
MAX_SHORTENINGS = 3
"""Limit of times that one prompt is shortened: an endpoint may not say by how much."""
UNKNOWN_SHARE = 0.6
"""Part of the prompt that is kept where the endpoint names no numbers."""
MARGIN = 0.85
"""Characters and tokens are not proportional, and the answer needs room."""
HEAD_SHARE = 0.6
"""Part of a shortened text that is its beginning; the end often has the request."""
MIN_CHARS = 400
"""A shorter text is kept whole."""
OPENAI_FACTOR = 4
"""OpenAI's models count their thoughts as output."""
_PURPOSES: Mapping[str, OutputPurpose] = {"Plan": "plan", "Decision": "plan", "Answer": "answer"}


def choose_share(error: ContextTooSmall) -> float:
    """Return the part of the prompt that fits, 0 to 1."""
    if error.needed and error.limit and error.needed > error.limit:
        return MARGIN * error.limit / error.needed
    return UNKNOWN_SHARE


def shorten_messages(
    messages: Sequence[BaseMessage], share: float
) -> tuple[list[BaseMessage], int]:
    """Return the messages cut to a share of their characters, and how many were left out.

    The longest texts are cut, all to the same length, in their middle. System messages stay.
    """
    sizes = [
        len(message.content)
        for message in messages
        if isinstance(message.content, str) and not isinstance(message, SystemMessage)
    ]
    fixed = sum(len(str(message.content)) for message in messages) - sum(sizes)
    limit = max(MIN_CHARS, share_room(sizes, int((sum(sizes) + fixed) * share) - fixed))
    shortened = [_shorten_message(message, limit) for message in messages]
    left_out = sum(size - limit for size in sizes if size > limit)
    return shortened, left_out


def _shorten_message(message: BaseMessage, limit: int) -> BaseMessage:
    text = message.content
    if isinstance(message, SystemMessage) or not isinstance(text, str) or len(text) <= limit:
        return message
    head = int(limit * HEAD_SHARE)
    mark = f"\n[{len(text) - limit:,} characters were left out here]\n"
    return message.model_copy(update={"content": text[:head] + mark + text[head - limit :]})


def choose_output_limit(
    kwargs: Mapping[str, Any], chosen: Mapping[OutputPurpose, int], kind: EndpointKind
) -> int:
    """Return the most tokens that the answer to a request may have.

    Args:
        kwargs: arguments of the call, with its tools.
        chosen: limits from the settings.
    """
    schema = name_requested_schema(kwargs)
    purpose = _PURPOSES.get(schema, "turn")
    if schema == REPORT and len(kwargs.get("tools") or ()) == 1:
        purpose = "report"
    factor = OPENAI_FACTOR if kind == "openai" else 1
    return chosen.get(purpose) or DEFAULT_OUTPUT_TOKENS * factor
