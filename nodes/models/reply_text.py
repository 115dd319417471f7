"""Collects the text of a reply while a model still writes it."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

READ_INTERVAL_S: Final = 0.05
"""Between two readings of the reply so far, each of which begins at its start."""


class ReplyTextReader:
    """Collects the parts of one reply, and calls a listener with what is there so far.

    That is the JSON of its tool call where it makes one, else its words.
    """

    def __init__(self, listener: Callable[[str], None]) -> None:
        self._listener = listener
        self._arguments: list[str] = []
        self._words: list[str] = []
        self._read_at, self._length = 0.0, 0
        self.has_begun = False
        """A part has come."""

    def read_chunk(self, chunk: ChatGenerationChunk) -> None:
        """Add a part of the reply; at most twenty times a second the listener is called."""
        self.has_begun, message = True, chunk.message
        if isinstance(message, AIMessageChunk):
            self._arguments += [call["args"] or "" for call in message.tool_call_chunks]
        self._words.append(message.text)
        if (now := monotonic()) - self._read_at < READ_INTERVAL_S:
            return
        text = "".join(self._arguments) or "".join(self._words)
        if len(text) > self._length:
            self._read_at, self._length = now, len(text)
            self._listener(text)
