"""Convert Markdown to a Word document."""

import io
import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import docx
from markdown_it.token import Token

from extensions.tools.formats.html import build_markdown_parser
from nodes.errors import ToolRefused

MAX_COLUMNS = 63
"""The limit of Microsoft Word."""
MAX_LIST_LEVEL = 3
MAX_TITLE_CHARS = 255
"""The limit of the format."""


def to_docx(markdown: str, title: str) -> bytes:
    """Render headings, paragraphs, lists, quotations, code and tables.

    Raises:
        ToolRefused: a table has more columns than Word can hold.
    """
    writer = _DocxWriter(title)
    writer.write_tokens(build_markdown_parser().parse(markdown))
    out = io.BytesIO()
    writer.document.save(out)
    return out.getvalue()


class _DocxWriter:
    """Walks the tokens of a document; `_lists` and `_quoted` track the current nesting."""

    def __init__(self, title: str) -> None:
        self.document: Any = docx.Document()  # python-docx types its factory loosely
        told = self.document.core_properties
        told.title, told.author, told.comments = title[:MAX_TITLE_CHARS], "", ""
        told.created = told.modified = datetime.now(UTC)
        self._list_styles: list[str] = []
        self._quote_depth = 0
        self._heading_level = 0

    def write_tokens(self, tokens: Sequence[Token]) -> None:
        """Add every block of the token stream to the document."""
        stream = iter(tokens)
        for token in stream:
            match token.type:
                case "table_open":
                    rows = itertools.takewhile(lambda part: part.type != "table_close", stream)
                    self._add_table(list(rows))
                case "inline":
                    _add_runs(self._add_paragraph(), token.children or [])
                case "fence" | "code_block":
                    self._add_code(token.content)
                case "hr":
                    self.document.add_paragraph("* * *")
                case _:
                    self._track_block(token)

    def _track_block(self, token: Token) -> None:
        match token.type:
            case "heading_open":
                self._heading_level = int(token.tag[1])
            case "heading_close":
                self._heading_level = 0
            case "bullet_list_open":
                self._list_styles.append("List Bullet")
            case "ordered_list_open":
                self._list_styles.append("List Number")
            case "bullet_list_close" | "ordered_list_close":
                self._list_styles.pop()
            case "blockquote_open" | "blockquote_close":
                self._quote_depth += token.nesting

    def _add_paragraph(self) -> Any:
        if self._heading_level:
            return self.document.add_heading(level=self._heading_level)
        if self._list_styles:
            level = min(len(self._list_styles), MAX_LIST_LEVEL)
            style = self._list_styles[-1] if level == 1 else f"{self._list_styles[-1]} {level}"
            return self.document.add_paragraph(style=style)
        return self.document.add_paragraph(style="Quote" if self._quote_depth else None)

    def _add_code(self, code: str) -> None:
        run = self.document.add_paragraph().add_run(_drop_control_characters(code.rstrip("\n")))
        run.font.name = "Courier New"

    def _add_table(self, tokens: list[Token]) -> None:
        rows = list[list[list[Token]]]()
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(token.children or [])
        columns = max(map(len, rows))
        if columns > MAX_COLUMNS:
            raise ToolRefused(
                f"a table has {columns} columns, of at most {MAX_COLUMNS} in a DOCX; split it"
            )
        table = self.document.add_table(rows=len(rows), cols=columns, style="Table Grid")
        for n, (cells, row) in enumerate(zip(table.rows, rows, strict=True)):
            for place, content in zip(cells.cells, row, strict=False):
                _add_runs(place.paragraphs[0], content, bold=n == 0)


def _add_runs(paragraph: Any, tokens: Sequence[Token], *, bold: bool = False) -> None:
    strong, emphasis, links = int(bold), 0, list[str]()
    for token in tokens:
        match token.type:
            case "strong_open" | "strong_close":
                strong += token.nesting
            case "em_open" | "em_close":
                emphasis += token.nesting
            case "link_open":
                links.append(str(token.attrGet("href") or ""))
            case "link_close":
                paragraph.add_run(_drop_control_characters(f" ({links.pop()})"))
            case _:
                text = " " if token.type == "softbreak" else token.content
                run = paragraph.add_run(
                    _drop_control_characters("\n" if token.type == "hardbreak" else text)
                )
                run.bold, run.italic = strong > 0 or None, emphasis > 0 or None
                if token.type == "code_inline":
                    run.font.name = "Courier New"


def _drop_control_characters(text: str) -> str:
    """Remove the characters that XML cannot hold."""
    return "".join(sign for sign in text if sign >= " " or sign in "\n\t")
