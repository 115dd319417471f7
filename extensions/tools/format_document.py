"""Write finished documents as files."""

import unicodedata
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

from langchain_core.tools import BaseTool, tool
from pydantic import Field

from nodes.errors import ToolFailed, ToolRefused
from nodes.limits.patterns import Pattern
from nodes.security.private_files import make_private_folder, open_private_file
from nodes.text.plain_text import sanitize_line, sanitize_text
from nodes.tools.framework.settings import ToolSettings

DocumentFormat = Literal["markdown", "html", "docx"]
SUFFIXES: dict[DocumentFormat, str] = {"markdown": ".md", "html": ".html", "docx": ".docx"}
MAX_MARKDOWN_CHARS = 500_000
MAX_NAME_CHARS = 60


def format_document(settings: ToolSettings) -> BaseTool:
    """Build the writer of documents into `settings.output`."""

    @tool("format_document")
    def write(
        markdown: str,
        format: Annotated[
            DocumentFormat, Field(description="markdown, html or docx (Word)")
        ] = "markdown",
        title: str = "report",
    ) -> dict[str, Any]:
        """Write a finished document to a file; never replaces another one.

        Pass the whole document as Markdown (headings, lists, tables, bold); format is markdown,
        html or docx. Name the file in your report, as in:
        report.docx (path: /home/ana/report.docx).
        Example: format_document(markdown="# Findings", format="html", title="Cloud market")
        """
        text = sanitize_text(markdown)
        if not text.strip():
            raise ToolRefused("the document is empty; give its text as Markdown")
        if len(text) > MAX_MARKDOWN_CHARS:
            raise ToolRefused(
                f"the document has {len(text)} characters, of at most {MAX_MARKDOWN_CHARS}"
            )
        return write_document(settings.output, text, format, title)

    return write


def write_document(
    folder: Path, markdown: str, format: DocumentFormat, title: str
) -> dict[str, Any]:
    """Write a document into a folder, under a name made from its title.

    Raises:
        ToolFailed: it cannot be saved.
    """
    content = _render_document(markdown, format, sanitize_line(title, 200) or "report")
    try:
        make_private_folder(folder)
        path = _write_new_file(folder, make_file_stem(title), SUFFIXES[format], content)
    except OSError as error:
        raise ToolFailed(
            f"the document cannot be saved ({error.strerror}); put its text into your report"
        ) from error
    return {"path": str(path), "format": format, "bytes": len(content)}


def _render_document(markdown: str, format: DocumentFormat, title: str) -> bytes:
    # The renderers load here, when a document of their kind is first needed.
    if format == "html":
        from extensions.tools.formats.html import to_html

        return to_html(markdown, title)
    if format == "docx":
        from extensions.tools.formats.docx import to_docx

        return to_docx(markdown, title)
    return (markdown.rstrip("\n") + "\n").encode("utf-8")


def make_file_stem(title: str) -> str:
    """Return a safe file name for a title: lower-case letters, digits and hyphens."""
    folded = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return (
        Pattern(r"[^a-z0-9]+").sub("-", folded).strip("-")[:MAX_NAME_CHARS].rstrip("-") or "report"
    )


def _write_new_file(folder: Path, stem: str, suffix: str, content: bytes) -> Path:
    for n in count(1):
        path = folder / f"{stem}{suffix if n == 1 else f'-{n}{suffix}'}"
        try:
            with open(path, "xb", opener=open_private_file) as file:
                file.write(content)
        except FileExistsError:
            continue
        return path
    raise AssertionError("there is always a free number")
