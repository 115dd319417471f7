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

MAX_EXTRA_PARTS: Final = 12
"""Parts of a stream after a complete value, about a token each; a server's last ones are fewer."""
MAX_WORDS_CHARS: Final = 600
"""Of words without any JSON, where a call was asked for."""
REPEATED_CHARS: Final = 40
MAX_REPETITIONS: Final = 10
"""How often the last characters may occur among the last of a reply, which then has no end."""
TAIL_CHARS: Final = 1_200
MAX_VALUES: Final = 8
"""Limit for the values of one reply, such as calls one after another."""
_OPENINGS: Final = ("{", "[{", '["', "[[", "[]", "```", "<tool_call>", "<function=")
_THOUGHTS: Final = ("<think", "<|", "[THINK]", "<reasoning")
"""How a reply begins that shows a model's thoughts first: it may be long."""
START_CHARS: Final = 16
"""Of a reply, without spaces, by which its form is known."""
READ_INTERVAL_S: Final = 0.05
"""Between two readings of the reply so far, each of which begins at its start."""
READ_PACE: Final = 10
"""The same, in times that a reading takes: a long reply is read less often."""


def ends_in_repetition(text: str, times: int) -> bool:
    """Return whether the last characters of a text occur so often in it that it has no end."""
    end = text[-REPEATED_CHARS:]
    return len(end) == REPEATED_CHARS and bool(end.strip()) and text.count(end) >= times


class RunOnWatch:
    """Follows the text of one reply, in linear time, and says when to stop reading it.

    Only a text that begins as JSON or as a call is followed. A value that is followed by another
    one is not the end; blank lines and prose after it are.

    Args:
        wants_call: words without any JSON are no reply; they are left after `MAX_WORDS_CHARS`.
    """

    def __init__(self, *, wants_call: bool = False) -> None:
        self._start, self._is_followed, self._wants_call = "", True, wants_call
        self._chars, self._tail = 0, ""
        self.is_repeated = False
        """It was left as it repeats itself, so its value is not complete."""
        self._depth, self._is_in_string, self._is_escaped = 0, False, False
        self._values, self._extra_parts = 0, 0

    def is_over(self, part: str) -> bool:
        """Add a part of the reply; return whether it is complete, and runs on."""
        if self._repeats(part):
            self.is_repeated = True
            return True
        if len(self._start) < START_CHARS:
            self._start = "".join((self._start + part[: 4 * START_CHARS]).split())
            self._is_followed = any(map(self._may_begin_with, _OPENINGS))
        if part and self._depth == 0 and self._values:
            self._extra_parts += 1
        self.follow(part)
        if not self._is_followed:
            return self._is_no_call(part)
        return self._values >= MAX_VALUES or self._extra_parts > MAX_EXTRA_PARTS

    def follow(self, text: str) -> None:
        """Follow the values of a text, with any words between them."""
        for character in text:
            self._read(character)

    @property
    def is_inside(self) -> bool:
        """Whether a value has begun that is not complete."""
        return self._depth > 0

    def _may_begin_with(self, opening: str) -> bool:
        return self._start.startswith(opening) or opening.startswith(self._start)

    def _repeats(self, part: str) -> bool:
        """Add a part of the reply; return whether its end is a repetition."""
        known = len(self._tail) // REPEATED_CHARS
        self._tail += part
        if len(self._tail) // REPEATED_CHARS == known:  # not at each part
            return False
        self._tail = self._tail[-TAIL_CHARS:]
        return ends_in_repetition(self._tail, MAX_REPETITIONS)

    def _is_no_call(self, part: str) -> bool:
        """Add a part of a reply in words; return whether it is too long to become a call."""
        self._chars += len(part)
        if "{" in part or any(map(self._may_begin_with, _THOUGHTS)):
            self._wants_call = False
        return self._wants_call and self._chars > MAX_WORDS_CHARS

    def _read(self, character: str) -> None:
        if self._is_in_string:
            is_end = character == '"' and not self._is_escaped
            self._is_escaped = character == "\\" and not self._is_escaped
            self._is_in_string = not is_end
        elif character == '"':
            self._is_in_string = self._depth > 0
        elif character in "{[":
            self._depth, self._extra_parts = self._depth + 1, 0
        elif character in "}]" and self._depth:
            self._depth -= 1
            self._values += self._depth == 0


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
