"""The answer as a chat shows it: its text, then gaps, contradictions, sources and confidence."""

from collections.abc import Mapping
from typing import Final

from nodes.text.answer_markdown import format_answer
from nodes.text.markdown_escaping import escape_active_markdown
from nodes.text.phrases import say
from nodes.text.printable import make_printable
from state import Answer, RunStatus

_STATUS_KEYS: Final[Mapping[str, str]] = {
    "passages": "status_passages",
    "partial": "status_partial",
    "failed": "status_failed",
}
"""Keys of the phrases for what is less than an answer."""


def write_chat_message(answer: Answer, status: RunStatus, *, is_planned: bool = True) -> str:
    """Return the answer as Markdown that is safe to render; it begins with the answer's text.

    Args:
        is_planned: it rests on tasks; the reply to small talk is shown without a confidence.
    """
    shown = format_answer(answer.model_dump(mode="json")) if is_planned else answer.text
    if status in _STATUS_KEYS:
        name = say(answer.language, "status")
        shown += f"\n\n**{name}:** {say(answer.language, _STATUS_KEYS[status])}"
    return escape_active_markdown(make_printable(shown))
