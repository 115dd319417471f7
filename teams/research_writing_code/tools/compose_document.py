"""Compose documents from sentences of the materials, unchanged, and from what a writer wrote."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from pydantic import Field

from extensions.tools.documents.index import PassageIndex
from extensions.tools.documents.passages import Passage
from extensions.tools.format_document import DocumentFormat, write_document
from extensions.tools.reading.prose_sentences import Sentence, split_sentences
from nodes.errors import ToolFailed
from nodes.proof import is_quoted
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.argument_types import Query
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_report import ToolReport, join_names

from .materials.selection import select_texts

MAX_SENTENCES = 12
MAX_SENTENCES_READ = 400
"""Sentences of a text that are considered."""
MIN_CHOSEN_SENTENCES = 3
"""If fewer are about the query, a text is used from its beginning."""


def choose_sentences(query: str, texts: Mapping[str, str]) -> dict[str, list[Sentence]]:
    """Return the sentences of each text that are about a query, in their order.

    A sentence is also about what the heading above it names.
    """
    share = max(MIN_CHOSEN_SENTENCES, MAX_SENTENCES // len(texts))
    chosen = {}
    for name, text in texts.items():
        every, lines = list(islice(split_sentences(text), MAX_SENTENCES_READ)), text.split("\n")
        index = PassageIndex(Passage("", _find_heading(each, lines), each.text) for each in every)
        found = {hit.passage.text for hit in index.search(query, share)}
        near = [each for each in every if each.text in found]
        chosen[name] = near if len(near) >= MIN_CHOSEN_SENTENCES else every[:share]
    return chosen


def _find_heading(sentence: Sentence, lines: Sequence[str]) -> str:
    above = (lines[number] for number in range(sentence.line - 2, -1, -1))
    return next((line for line in above if line.startswith("#")), "")


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
        query: Annotated[Query | None, Field(description="Subject of the draft")] = None,
        title: Annotated[str, Field(description="Title and file name")] = "document",
        format: Annotated[
            DocumentFormat | None,
            Field(
                description="File to write: markdown, html or docx (Word); none if not asked for"
            ),
        ] = None,
        materials: Materials = None,
    ) -> dict[str, Any]:
        """Write a text to a file of a format, or collect sentences of the materials for a text.

        With `markdown` that text is written. With `draft` the sentences on `query` are collected,
        unchanged: use them as your material. With neither the texts are taken as they are.
        """
        if not (markdown.strip() or draft or format):
            return ToolReport().to_json()
        report, title = ToolReport(), sanitize_line(title, MAX_TITLE_CHARS)
        if not markdown.strip():
            texts = await asyncio.to_thread(select_texts, "", (), materials)
            if draft:
                body = await asyncio.to_thread(_draft_text, report, texts, query or title)
                markdown = f"# {title}\n\n{body}"
            else:
                report.lines.append(f"{join_names(texts)}: taken unchanged.")
                for name in texts:
                    report.add_claim(f"{name} was taken unchanged.", name)
                markdown = "\n\n".join(texts.values())
        written: dict[str, Any] = {}
        if format is not None:
            folder = settings.output
            written = await asyncio.to_thread(_write_file, report, folder, markdown, format, title)
        return {**written, **report.to_json()}

    return compose


def _draft_text(report: ToolReport, texts: Mapping[str, str], query: str) -> str:
    """Add the sentences of texts on a query to the report, and return them as a list."""
    lines = []
    for name, sentences in choose_sentences(query, texts).items():
        for each in sentences:
            quote = sanitize_line(each.text, MAX_QUOTE_CHARS)
            report.add_claim(each.text, name, quote if is_quoted(quote, texts[name]) else "")
            lines.append(f"- {each.text} ({name})")
    report.gaps.append(UNWRITTEN_GAP)
    report.lines += lines
    return "\n".join(lines)


def _write_file(
    report: ToolReport, folder: Path, text: str, format: DocumentFormat, title: str
) -> dict[str, Any]:
    """Write a document and return where; if that fails, the draft is still returned."""
    try:
        written = write_document(folder, text, format, title)
    except ToolFailed as failure:
        if not report.lines:
            raise
        report.failures.append(str(failure))
        return {}
    report.lines += [
        "",
        f"The document is written: {Path(written['path']).name} (path: {written['path']}).",
    ]
    return written
