"""Replies that are read while a model still writes them, or that it began to write early."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, Final

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from pydantic_core import from_json

from nodes.errors import BudgetSpent

REPEATED_CHARS: Final = 40
READ_INTERVAL_S: Final = 0.05
"""Between two readings of the reply so far, each of which begins at its start."""
READ_PACE: Final = 10
"""The same, in times that a reading takes: a long reply is read less often."""


def ends_in_repetition(text: str, times: int) -> bool:
    """Return whether the last characters of a text occur so often in it that it has no end."""
    end = text[-REPEATED_CHARS:]
    return len(end) == REPEATED_CHARS and bool(end.strip()) and text.count(end) >= times


class ReplyTextReader:
    """Collects the parts of one reply, and calls listeners with what is there so far.

    That is the JSON of its tool call where it makes one, else its words.
    """

    def __init__(self, listeners: Sequence[Callable[[str], None]]) -> None:
        self._listeners = listeners
        self._arguments: list[str] = []
        self._words: list[str] = []
        self._read_at, self._length, self._pause_s = 0.0, 0, READ_INTERVAL_S
        self.has_begun = False
        """A part has come."""

    def read_chunk(self, chunk: ChatGenerationChunk) -> None:
        """Add a part of the reply; at most twenty times a second the listeners are called."""
        self.has_begun, message = True, chunk.message
        if isinstance(message, AIMessageChunk):
            self._arguments += [call["args"] or "" for call in message.tool_call_chunks]
        self._words.append(message.text)
        if (now := monotonic()) - self._read_at < self._pause_s:
            return
        text = "".join(self._arguments) or "".join(self._words)
        if len(text) > self._length:
            self._read_at, self._length = now, len(text)
            for listen in self._listeners:
                listen(text)
            self._pause_s = max(READ_INTERVAL_S, READ_PACE * (monotonic() - now))


class AnswerTextListener:
    """Passes on the text of an answer as it grows, and never the JSON around it."""

    def __init__(self, listener: Callable[[str], None]) -> None:
        self._listener, self._sent = listener, ""

    def __call__(self, reply: str) -> None:
        """Read the reply so far."""
        text = read_answer_text(reply)
        if text and text != self._sent:
            self._sent = text
            self._listener(text)


def read_answer_text(reply: str) -> str:
    """Return the `text` of an answer whose JSON may be incomplete; empty where there is none."""
    try:
        value = from_json(reply[max(0, reply.find("{")) :], allow_partial="trailing-strings")
    except ValueError:
        return ""
    text = value.get("text") if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


class OfferedReply:
    """The reply of a call in flight, for one call with exactly the same input."""

    def __init__(self, call: "asyncio.Future[AIMessage]") -> None:
        self.call = call
        self.key = ""
        """Of the input, set once the call has begun."""
        self.was_taken = False


_offered: ContextVar[OfferedReply | None] = ContextVar("offered_reply", default=None)


@contextmanager
def offer_reply(reply: OfferedReply | None) -> Iterator[None]:
    """Offer a reply to the calls made inside."""
    token = _offered.set(reply)
    try:
        yield
    finally:
        _offered.reset(token)


async def take_offered_reply(
    model: str, messages: Sequence[BaseMessage], kwargs: Mapping[str, Any]
) -> AIMessage | None:
    """Return the reply that is offered for this input; None where there is none.

    Nor is there one where the budget had no room for the call when it began, beside the call of
    the planner, which may have ended by now.

    Raises:
        SupervisorError: the call that was begun early has failed.
    """
    reply = _offered.get()
    if reply is None or not reply.key or reply.was_taken:
        return None
    if reply.key != build_input_key(model, messages, kwargs):
        return None
    reply.was_taken = True
    try:
        return await reply.call
    except BudgetSpent:
        reply.was_taken, reply.key = False, ""
        return None


def build_input_key(model: str, messages: Sequence[BaseMessage], kwargs: Mapping[str, Any]) -> str:
    """Return what a model is asked, as text."""
    said = [[message.type, message.content] for message in messages]
    return json.dumps([model, said, dict(kwargs)], sort_keys=True, default=str)
