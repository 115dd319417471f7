"""Reads the text of an answer while a model still writes the JSON around it."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from pydantic_core import from_json

READ_INTERVAL_S: Final = 0.1
"""Between two reads of the JSON so far, each of which begins at its start."""


class AnswerTextReader:
    """Collects the parts of one reply, and calls a listener with the answer's text so far.

    The JSON of the reply is never passed on.
    """

    def __init__(self, listener: Callable[[str], None]) -> None:
        self._listener = listener
        self._arguments: list[str] = []
        self._words: list[str] = []
        self._read_at, self._sent = 0.0, ""

    def read_chunk(self, chunk: ChatGenerationChunk) -> None:
        """Add a part of the reply; at most ten times a second the listener is called."""
        message = chunk.message
        if isinstance(message, AIMessageChunk):
            self._arguments += [call["args"] or "" for call in message.tool_call_chunks]
        self._words.append(message.text)
        if (now := monotonic()) - self._read_at < READ_INTERVAL_S:
            return
        text = read_answer_text("".join(self._arguments) or "".join(self._words))
        if text and text != self._sent:
            self._read_at, self._sent = now, text
            self._listener(text)


def read_answer_text(reply: str) -> str:
    """Return the `text` of an answer whose JSON may be incomplete; empty where there is none."""
    try:
        value = from_json(reply[max(0, reply.find("{")) :], allow_partial="trailing-strings")
    except ValueError:
        return ""
    text = value.get("text") if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""
