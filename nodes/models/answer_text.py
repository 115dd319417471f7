"""Reads the text of an answer while a model still writes the JSON around it."""

from collections.abc import Callable

from pydantic_core import from_json


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
