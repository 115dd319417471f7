"""The child process that parses documents; `reader.py` sends it one document per line."""

import base64
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from extensions.tools.documents.workbook import parse_workbook
from nodes.errors import ToolRefused
from nodes.tools.framework.document_kinds import WORKBOOK_SUFFIXES

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
MAX_PAGES = 2000
MIN_ARTICLE_CHARS = 400
"""Below this size a page is kept whole: there is little around the article to remove."""
MAX_UNPACKED_BYTES = 200_000_000


def parse_document(
    suffix: str, max_chars: int, *, path: str = "", content: str = ""
) -> dict[str, Any]:
    """Return the text and the title of a file, or of base64 content; of a workbook its `sheets`.

    Raises:
        ToolRefused: the document cannot be read.
    """
    raw = Path(path).read_bytes() if path else base64.b64decode(content)
    if suffix in WORKBOOK_SUFFIXES:
        _check_unpacked_size(raw)
        return {"sheets": parse_workbook(raw, max_chars)}
    title, text = PARSERS[suffix](raw, max_chars)
    return {"text": text, "title": title}


def _parse_pdf(raw: bytes, max_chars: int) -> tuple[str, str]:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    pages: list[str] = []
    try:
        reader = PdfReader(io.BytesIO(raw))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ToolRefused("it is encrypted")
        for page in reader.pages[:MAX_PAGES]:
            pages.append(page.extract_text())
            if sum(map(len, pages)) > max_chars:
                break
        title = reader.metadata.title if reader.metadata else None
    except PyPdfError as error:
        raise ToolRefused(f"not a readable PDF: {error}") from error
    text = "\f".join(pages)
    if not text.strip("\f \n"):
        return title or "", ""
    if len(reader.pages) > MAX_PAGES:
        text += f"\n[cut: the first {MAX_PAGES} of {len(reader.pages)} pages]"
    return title or "", text


def _parse_docx(raw: bytes, max_chars: int) -> tuple[str, str]:
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    try:
        _check_unpacked_size(raw)
        document = docx.Document(io.BytesIO(raw))
    except (zipfile.BadZipFile, PackageNotFoundError, KeyError, ValueError) as error:
        raise ToolRefused(f"not a readable DOCX: {error}") from error
    except SyntaxError as error:  # what lxml raises on XML that is broken or grows without end
        raise ToolRefused(f"not a readable DOCX: its XML is broken: {error.msg}") from error
    return document.core_properties.title or "", "\n\n".join(_list_blocks(document))


def _check_unpacked_size(raw: bytes) -> None:
    if zipfile.is_zipfile(io.BytesIO(raw)):
        with zipfile.ZipFile(io.BytesIO(raw)) as package:
            if sum(part.file_size for part in package.infolist()) > MAX_UNPACKED_BYTES:
                raise ToolRefused("it unpacks to more than 200 MB")


def _list_blocks(document: Any) -> Iterator[str]:
    from docx.table import Table

    for block in document.iter_inner_content():
        if isinstance(block, Table):
            rows = [" | ".join(cell.text.strip() for cell in row.cells) for row in block.rows]
            yield "\n".join(rows)
        elif block.text.strip():
            style = block.style.name if block.style is not None else ""
            level = style.removeprefix("Heading ")
            mark = "#" * int(level) + " " if level.isdigit() else "# " * (style == "Title")
            yield mark + block.text


def _parse_html(raw: bytes, max_chars: int) -> tuple[str, str]:
    import lxml.html  # type: ignore[import-untyped]
    import trafilatura
    from lxml.etree import LxmlError  # type: ignore[import-untyped]

    encoding = _detect_encoding(raw)
    try:
        page = lxml.html.document_fromstring(raw, parser=lxml.html.HTMLParser(encoding=encoding))
    except (LxmlError, ValueError):
        return "", ""
    title = " ".join((page.findtext(".//title") or "").split())
    _drop_hidden_parts(page)
    _mark_headings(page)
    _name_article(page)
    told = lxml.html.tostring(page, encoding="unicode")
    text = trafilatura.extract(told, output_format="markdown", include_tables=True)
    if text and len(text) >= MIN_ARTICLE_CHARS:
        lines = text.splitlines()  # of a paragraph, the sign of a heading is escaped
        return title, "\n".join(line[line.startswith("\\#") :] for line in lines)
    return title, _extract_all_text(page)


def _detect_encoding(raw: bytes) -> str | None:
    """Return UTF-8 if the bytes are valid UTF-8; None leaves it to what the page declares."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _drop_hidden_parts(page: Any) -> None:
    for hidden in page.xpath("//head | //script | //style | //noscript | //template | //comment()"):
        if hidden.getparent() is not None:  # a comment before the page itself has no parent
            hidden.drop_tree()


def _mark_headings(page: Any) -> None:
    """Make each heading a paragraph that is one in Markdown: an article keeps paragraphs alone."""
    for heading in [*page.iter(*HEADINGS)]:
        level, words = int(heading.tag[1]), " ".join(heading.text_content().split())
        heading.clear(keep_tail=True)
        heading.tag, heading.text = "p", f"{'#' * level} {words}" if words else ""


def _name_article(page: Any) -> None:
    """Make the main part of a page that names no article one: else short lists are dropped."""
    parts = [] if page.xpath("//article") else page.xpath("//main") or page.xpath("/html/body")
    for part in parts[:1]:
        part.attrib.clear()  # by the class of a part it may be dropped
        if part.tag == "body":
            page.insert(0, page.makeelement("body"))
            page[0].append(part)
        part.tag = "article"


def _extract_all_text(page: Any) -> str:
    for cell in page.iter("td", "th"):
        cell.tail = " | "
    for item in page.iter("li"):
        item.text = f"\n- {(item.text or '').lstrip()}"
    for block in page.iter("p", "div", "section", "ul", "ol", "table", "tr", "br"):
        gap = "\n" if block.tag in ("tr", "br") else "\n\n"
        block.tail = gap + (block.tail or "")
    lines = [line.strip() for line in page.text_content().splitlines()]
    kept = (line for above, line in zip(["", *lines], lines, strict=False) if above or line)
    return "\n".join(kept).strip()


PARSERS: dict[str, Callable[[bytes, int], tuple[str, str]]] = {
    ".pdf": _parse_pdf,
    ".docx": _parse_docx,
    ".html": _parse_html,
    ".htm": _parse_html,
    ".xhtml": _parse_html,
}
