"""Split a text into passages that can be found and quoted."""

from collections.abc import Iterator
from dataclasses import dataclass

from nodes.limits.patterns import Pattern
from nodes.text.csv_table import is_table_name

TARGET_CHARS = 1000
MAX_PASSAGE_CHARS = 2000

_HEADING = Pattern(r"^#{1,6}[ \t]++(.*[^ \t#])[ \t#]*+$")
_UNDERLINE = Pattern(r"^(=+|-{3,})[ \t]*$")
_HTML_HEADING = Pattern(r"^[ \t]{0,3}<h[1-6]\b[^<>]*>")
_HTML_HEADING_END = Pattern(r"</h[1-6]>[ \t]*(?P<rest>.*)")
_TAG = Pattern(r"</?\w[^<>]*>")
_CONTENTS_ENTRY = Pattern(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[^\]]*\]\(#[^()\s]*\)[ \t]*$")
"""A line of a table of contents: it names a section, and says nothing."""
_ITEM = Pattern(r"[ \t]{0,8}(?:[-*+]|\d{1,3}[.)])[ \t]")
MAX_HEADING_LINES = 4
"""Limit of a heading in HTML, which may never be closed."""


@dataclass(frozen=True)
class Passage:
    """Consecutive words of one document, verbatim."""

    source: str
    place: str
    """Heading, page or rows; empty if the document has none."""
    text: str


def split_document(source: str, text: str) -> tuple[Passage, ...]:
    """Split a document at its pages, headings and paragraphs, or a table at its lines."""
    if is_table_name(source):
        return tuple(_split_rows(source, text))
    pages = text.split("\f")
    if len(pages) == 1:
        return tuple(_split_sections(source, "", text))
    numbered = enumerate(pages, start=1)
    return tuple(
        passage for n, page in numbered for passage in _split_sections(source, f"page {n}", page)
    )


def _split_sections(source: str, page: str, text: str) -> Iterator[Passage]:
    heading, lines, is_open = "", list[str](), False
    for line in text.splitlines():
        if _HTML_HEADING.match(line):
            yield from _split_section(source, page, heading, lines)
            heading, lines, is_open = "", [], True
        if is_open:
            lines.append(line)
            end = _HTML_HEADING_END.search(line)
            title = line[: end.start()] if end else line
            heading = " ".join([*heading.split(), *_TAG.sub("", title).split()])
            is_open = not end and len(lines) < MAX_HEADING_LINES
            lines = [end["rest"]] if end else lines
        elif found := _HEADING.match(line):
            yield from _split_section(source, page, heading, lines)
            heading, lines = found[1], [line]
        elif _UNDERLINE.match(line) and lines and lines[-1].strip():
            title = lines.pop()
            yield from _split_section(source, page, heading, lines)
            heading, lines = title.strip(), [title, line]
        elif not _CONTENTS_ENTRY.match(line):
            lines.append(line)
    yield from _split_section(source, page, heading, lines)


def _split_section(source: str, page: str, heading: str, lines: list[str]) -> Iterator[Passage]:
    body = lines if any(line.strip() for line in lines) else [heading]
    yield from _split_paragraphs(source, _format_place(page, heading), body)


def _format_place(page: str, heading: str) -> str:
    return ", ".join(part for part in (page, heading[:120]) if part)


def _split_paragraphs(source: str, place: str, lines: list[str]) -> Iterator[Passage]:
    held = ""
    for paragraph in Pattern(r"\n\s*\n").split("\n".join(lines).strip("\n")):
        most = MAX_PASSAGE_CHARS if _continues_list(held, paragraph) else TARGET_CHARS
        if held and len(held) + len(paragraph) > most:
            yield from _split_long_text(source, place, held)
            held = ""
        held = f"{held}\n\n{paragraph}" if held else paragraph
    yield from _split_long_text(source, place, held)


def _continues_list(held: str, paragraph: str) -> bool:
    """Return whether a paragraph is of the list that the text before it announces or begins."""
    last = held.rsplit("\n\n", 1)[-1]
    is_announced = last.rstrip().endswith(":") or bool(_ITEM.match(last))
    return is_announced and bool(_ITEM.match(paragraph))


def _split_long_text(source: str, place: str, text: str) -> Iterator[Passage]:
    while len(text) > MAX_PASSAGE_CHARS:
        cut = max(text.rfind(mark, TARGET_CHARS // 2, TARGET_CHARS) for mark in ("\n", ". ", " "))
        cut = cut + 1 if cut > 0 else TARGET_CHARS
        yield Passage(source, place, text[:cut].strip())
        text = text[cut:]
    if text.strip():
        yield Passage(source, place, text.strip())


def _split_rows(source: str, text: str) -> Iterator[Passage]:
    lines = [line for line in text.splitlines() if line.strip()]
    columns, start = (lines[0][:300] if lines else ""), 0
    while start < len(lines):
        end, size = start, 0
        while end < len(lines) and (end == start or size + len(lines[end]) <= TARGET_CHARS):
            size += len(lines[end]) + 1
            end += 1
        place = f"lines {start + 1}-{end}" + (f"; columns: {columns}" if start else "")
        yield from _split_long_text(source, place, "\n".join(lines[start:end]))
        start = end
