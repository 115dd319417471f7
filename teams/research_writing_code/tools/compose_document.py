"""Compose documents from sentences of the materials, unchanged, and from what a writer wrote."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from nodes.errors import ToolFailed
from nodes.text.plain_text import sanitize_line
from nodes.tools.evidence.quotes import is_quote_in
from nodes.tools.format_document import DocumentFormat, write_document
from nodes.tools.framework.argument_types import Query
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_report import ToolReport, join_names
from nodes.tools.reading.prose_sentences import Sentence

from .prose.draft import choose_sentences
from .prose.texts import select_texts

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_TITLE_CHARS = 80
MAX_QUOTE_CHARS = 300
UNWRITTEN_GAP = (
    "The draft is made of sentences of the material, none of them changed: to make it read as what "
    "was asked for takes a language model or a person."
)


def compose_document(settings: ToolSettings) -> BaseTool:
    """Build the composer; documents are written into `settings.output`."""

    @tool("compose_document")
    async def compose(
        markdown: Annotated[str, Field(description="The whole text that you wrote")] = "",
        draft: Annotated[
            bool, Field(description="Collect the materials' sentences on `query` as a draft")
        ] = False,
        query: Annotated[
            Query | None,
            Field(description="Subject of the draft"),
        ] = None,
        title: Annotated[str, Field(description="Title and file name")] = "document",
        format: Annotated[
            DocumentFormat | None, Field(description="Kind of file to write; none if not asked for")
        ] = None,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Write a text to a file of a format, or collect sentences of the materials for a text.

        With `markdown` that text is written. With `draft` the sentences on `query` are collected,
        unchanged: use them as your material. With neither the texts are taken as they are.
        """
        if not (markdown.strip() or draft or format):
            return ToolReport().to_json()
        reply = ToolReport()
        text = markdown
        if not markdown.strip():
            texts = await asyncio.to_thread(select_texts, "", (), materials)
            text = await asyncio.to_thread(
                _draft_text, reply, texts, (query or title) if draft else "", title
            )
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


def _draft_text(reply: ToolReport, texts: Mapping[str, str], query: str, title: str) -> str:
    """Return the sentences of texts on a query, or without one the texts unchanged."""
    if not query:
        reply.lines.append(f"{join_names(texts)}: taken unchanged.")
        for name in texts:
            reply.add_claim(f"{name} was taken unchanged.", name)
        return "\n\n".join(texts.values())
    chosen = choose_sentences(query, texts)
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
