"""The answer as a chat shows it: its text, then gaps, contradictions, sources and confidence."""

from collections.abc import Mapping
from typing import Final

from nodes.text.answer_markdown import format_answer
from nodes.text.markdown_escaping import escape_active_markdown
from nodes.text.printable import make_printable
from state import Answer, RunStatus

_STATUS_WORDS: Final[Mapping[str, str]] = {
    "partial": "partial, parts of the request are not answered",
    "failed": "failed, no task has given a result",
}


def write_chat_message(answer: Answer, status: RunStatus, *, is_planned: bool = True) -> str:
    """Return the answer as Markdown that is safe to render; it begins with the answer's text.

    Args:
        is_planned: it rests on tasks; the reply to small talk is shown without a confidence.
    """
    shown = format_answer(answer.model_dump(mode="json")) if is_planned else answer.text
    if status in _STATUS_WORDS:
        shown += f"\n\n**Status:** {_STATUS_WORDS[status]}"
    return escape_active_markdown(make_printable(shown))
