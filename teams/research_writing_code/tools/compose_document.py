"""Compose documents from sentences of the materials, unchanged, and from what a writer wrote."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolFailed
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.evidence.quotes import is_quote_in
from nodes.tools.format_document import DocumentFormat, write_document
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_report import ToolReport, join_names
from nodes.tools.reading.prose_sentences import Sentence

from .prose.draft import choose_sentences
from .prose.texts import asks_to_write, reject_if_out_of_scope, select_texts

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_TITLE_CHARS = 80
MAX_QUOTE_CHARS = 300
UNWRITTEN_GAP = (
    "The draft is made of sentences of the material, none of them changed: to make it read as what "
    "was asked for takes a language model or a person."
)

_ASKS_FOR_NEW_TEXT = Pattern(
    r"\b(?:writ|draft|compos|announce|summari[sz]|condens|shorten)", re.IGNORECASE
)


def compose_document(settings: ToolSettings) -> BaseTool:
    """Build the composer; documents are written into `settings.output`."""

    @tool("compose_document")
    async def compose(
        request: str,
        markdown: str = "",
        title: str = "document",
        format: DocumentFormat | None = None,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Compose a document, and write it to a file where a format is named.

        `markdown` is the text that you wrote. Without it a draft is made of sentences of the
        artifacts that are about `request`, or of a whole text where it is only to be formatted; use
        its sentences as your material. format is markdown, html or docx.
        Example: compose_document(request="a notice", markdown="# Notice", format="docx")
        """
        if elsewhere := reject_if_out_of_scope(request):
            return elsewhere
        if not (markdown.strip() or format or asks_to_write(request)):
            return ToolReport().to_json()
        reply = ToolReport()
        text = markdown
        if not markdown.strip():
            text = await asyncio.to_thread(_draft_text, reply, request, title, materials)
        if format is not None:
            folder = settings.output
            await asyncio.to_thread(_write_file, reply, folder, text, format, _shorten_title(title))
        return reply.to_json()

    return compose


def _write_file(
    reply: ToolReport, folder: Path, text: str, format: DocumentFormat, title: str
) -> None:
    """Write a document; if that fails, the draft is still returned."""
    try:
        written = write_document(folder, text, format, title)
    except ToolFailed as failure:
        if not reply.lines:
            raise
        reply.failures.append(str(failure))
    else:
        reply.lines += ["", f"The document is at {written['path']}."]


def _draft_text(
    reply: ToolReport, request: str, title: str, materials: Mapping[str, str] | None
) -> str:
    texts = select_texts(request, "", "", materials)
    if not _ASKS_FOR_NEW_TEXT.search(request):
        reply.lines.append(f"{join_names(texts)}: taken unchanged.")
        for name in texts:
            reply.add_claim(f"{name} was taken unchanged.", name)
        return "\n\n".join(texts.values())
    chosen = choose_sentences(request, texts)
    for name, each in chosen.items():
        for sentence in each:
            quote = sanitize_line(sentence.text, MAX_QUOTE_CHARS)
            stands = is_quote_in(quote, texts[name])
            reply.add_claim(sentence.text, name, quote if stands else "")
    reply.gaps.append(UNWRITTEN_GAP)
    body = "\n\n".join(_format_sentences(name, each) for name, each in chosen.items())
    reply.lines.append(body)
    return f"# {_shorten_title(title)}\n\n{body}"


def _format_sentences(name: str, chosen: Sequence[Sentence]) -> str:
    return "\n".join(f"- {each.text} ({name})" for each in chosen)


def _shorten_title(title: str) -> str:
    return sanitize_line(title, MAX_TITLE_CHARS)
