"""Split a text into sections and passages that can be found and quoted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from extensions.tools.documents.passage_markdown import (
    COLUMNS_MARK,
    find_fence_end,
    find_headings,
    rank_styles,
)
from nodes.limits.patterns import Pattern
from nodes.text.csv_table import is_table_name

MAX_COLUMNS_CHARS = 300
MAX_INDENT = 8
"""Of a list item; what is further to the right is code."""

_NUMBERED_ITEM = Pattern(r"[ \t]{0,8}\d{1,3}[.)][ \t]")
_BULLETS = frozenset("-*+•")
_SPACES = frozenset(" \t")
_SENTENCE_END = Pattern(r"[.!?][\"')\]\u2019\u201d]{0,2}\s")


@dataclass(frozen=True)
class Block:
    """Lines that are read together, verbatim; those of all blocks make up the section."""

    text: str
    """Without the line break at its end; blank lines above it are part of it."""
    is_joined: bool = False
    """Whether it should follow the block above in one passage: an item, a row, what `:` opens."""
    columns: str = ""
    """Of a row of a table further down: the line that names the columns."""


def split_blocks(lines: Sequence[str], suffix: str) -> Iterator[Block]:
    """Yield the blocks of a section's lines."""
    index, unclosed, above, header = 0, set[str](), "", ""
    while index < len(lines):
        first = index
        while index < len(lines) and (not lines[index] or lines[index].isspace()):
            index += 1
        if index == len(lines):
            return
        line, is_apart = lines[index], index > first
        start, is_row = index, line.lstrip()[:1] == "|"
        is_item = _is_item(line)
        index = find_fence_end(lines, index, suffix, unclosed) or index + 1
        if is_row:
            index = _find_first_row_end(lines, start) if not header else index
        elif index == start + 1:
            while index < len(lines) and not _begins_block(lines[index]):
                index += 1
        is_joined = (
            above.rstrip("*_` ").endswith(":")
            or (is_row and bool(header))
            or (is_item and _is_item(above))
            or (is_apart and line[0] in " \t" and not is_item)
        )
        yield Block("\n".join(lines[first:index]), is_joined, header if is_row else "")
        header = (header or line.strip()[:MAX_COLUMNS_CHARS]) if is_row else ""
        above = (
            line if is_item and not lines[index - 1].rstrip().endswith(":") else lines[index - 1]
        )
        above = above.rstrip()


def split_long_text(text: str, target: int, most: int) -> Iterator[str]:
    """Yield the parts of a text that is longer than `most`: at a sentence's end where there is one.

    A row or line stays whole if it is not too long itself.
    """
    while len(text) > most:
        cut = _find_cut(text, target, most)
        yield text[:cut]
        text = text[cut:]
    yield text


def _find_cut(text: str, target: int, most: int) -> int:
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, most)]
    near = [end for end in ends if target // 2 <= end <= target] or [
        end for end in ends if end > target
    ]
    if near:
        return near[-1] if near[-1] <= target else near[0]
    for mark in ("\n", " "):
        if (cut := text.rfind(mark, target // 2, target)) > 0:
            return cut + 1
    return target


def _begins_block(line: str) -> bool:
    stripped = line.lstrip()
    return not stripped or stripped[0] == "|" or stripped[:3] == "```" or _is_item(line)


def _is_item(line: str) -> bool:
    stripped = line.lstrip(" \t")
    if stripped[:1] in _BULLETS:
        return stripped[1:2] in _SPACES and len(line) - len(stripped) <= MAX_INDENT
    return stripped[:1].isdigit() and bool(_NUMBERED_ITEM.match(line))


def _find_first_row_end(lines: Sequence[str], start: int) -> int:
    """Return the line behind the first row below the names of the columns."""
    end = start + 1
    while end < min(len(lines), start + 3) and lines[end].lstrip()[:1] == "|":
        end += 1
    return end


_CONTENTS_ENTRY = Pattern(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[^\]]*\]\(#[^()\s]*\)[ \t]*$")
"""A line of a table of contents: it names a section, and says nothing."""


@dataclass(frozen=True)
class Section:
    """A heading with the text below it, until the next heading."""

    level: int
    """0 for the text above the first heading."""
    path: tuple[str, ...]
    """The titles of the headings that it is under, and its own."""
    heading: tuple[str, ...]
    """The lines of its heading; none of one in HTML."""
    body: tuple[str, ...]

    @property
    def has_text(self) -> bool:
        """Whether anything but the heading is in it."""
        return any(line and not line.isspace() for line in self.body)


def split_sections(text: str, suffix: str) -> Iterator[Section]:
    """Yield the sections of a text in their order; no line is lost but a contents entry."""
    lines = text.splitlines()
    headings = list(find_headings(lines, suffix))
    levels = rank_styles(headings, suffix)
    above, path = list[int](), list[str]()
    first = headings[0].first if headings else len(lines)
    yield Section(0, (), (), _drop_contents(lines[:first]))
    for index, each in enumerate(headings):
        level = levels[each.style]
        while above and above[-1] >= level:
            above.pop()
            path.pop()
        above.append(level)
        path.append(each.title)
        end = headings[index + 1].first if index + 1 < len(headings) else len(lines)
        body = _drop_contents(lines[each.end : end])
        if each.rest is None:
            yield Section(level, tuple(path), tuple(lines[each.first : each.end]), body)
        else:
            found = Section(level, tuple(path), (), (each.rest, *body))
            yield found if found.has_text else Section(level, tuple(path), (each.title,), ())


def _drop_contents(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for line in lines if "](#" not in line or not _CONTENTS_ENTRY.match(line))


TARGET_CHARS = 1000
MAX_PASSAGE_CHARS = 2000
MAX_TITLE_CHARS = 120
MAX_PATH_CHARS = 240

"""Begins the names of the columns in the place of rows whose table begins in another passage."""
_LINK = Pattern(r"\[([^\[\]]*)\](?:\([^()\s]*\))?")


@dataclass(frozen=True)
class Passage:
    """Consecutive words of one document, verbatim."""

    source: str
    place: str
    """Page, headings from the outermost to its own, rows, columns; empty if there are none."""
    text: str


def split_document(source: str, text: str) -> tuple[Passage, ...]:
    """Split a document at its pages, headings and paragraphs, or a table at its lines.

    No sentence, list item, row of a table or block of code is cut that fits into a passage.
    """
    if is_table_name(source):
        return tuple(_split_rows(source, text))
    suffix = PurePosixPath(source).suffix.lower()
    pages = text.split("\f")
    numbered = enumerate(pages, start=1)
    return tuple(
        Passage(source, place, part)
        for n, page in numbered
        for place, part in _split_page(page, suffix, f"page {n}" if len(pages) > 1 else "")
    )


def _split_page(text: str, suffix: str, page: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each passage.

    A heading without text of its own is kept with what is under it.
    """
    sections, index, above = list(split_sections(text, suffix)), 0, tuple[str, ...]()
    has_title = _find_branch_end(sections, 1) == len(sections)
    while index < len(sections):
        section, end = sections[index], index + 1
        if not section.has_text:
            end = index + 1 if has_title and index == 1 else _find_small_branch_end(sections, index)
            if end == index + 1 and _can_join(section, sections[end : end + 1]):
                above, index = (*above, *section.heading, *section.body), end
                continue
        place = ", ".join(part for part in (page, _format_path(section.path, has_title)) if part)
        heading = "\n".join((*above, *section.heading))
        below = (line for each in sections[index + 1 : end] for line in (*each.heading, *each.body))
        under = "\n".join((*section.body, *below)) if end > index + 1 else ""
        blocks = [Block(heading)] if heading.strip() else []
        if under:
            blocks.append(Block(under, is_joined=True))
        else:
            found = list(split_blocks(section.body, suffix))
            blocks += [Block(each.text, True, "") for each in found[:1]] + found[1:]
        yield from _join_blocks(place, blocks)
        above, index = (), end


def _can_join(section: Section, below: Sequence[Section]) -> bool:
    return any(each.heading and each.level > section.level for each in below)


def _find_branch_end(sections: Sequence[Section], index: int) -> int:
    """Return the end of a heading with all that is under it."""
    ends = range(index + 1, len(sections))
    return next((n for n in ends if sections[n].level <= sections[index].level), len(sections))


def _find_small_branch_end(sections: Sequence[Section], index: int) -> int:
    """Return the end of a heading with all that is under it if this makes one passage."""
    size, end = 0, index
    while end < len(sections) and (end == index or sections[end].level > sections[index].level):
        size += sum(len(line) + 1 for line in sections[end].heading + sections[end].body)
        if size > TARGET_CHARS or not sections[end].heading:
            return index + 1
        end += 1
    return end


def _format_path(path: Sequence[str], has_title: bool) -> str:
    """Return the titles, the outermost first; those in the middle go where it is too long.

    Args:
        has_title: all is under one heading, which the file's name replaces.
    """
    path = path[1:] if has_title and len(path) > 1 else path
    titles = [_clean_title(title) for title in path]
    while len(titles) > 1 and len(" > ".join(titles)) > MAX_PATH_CHARS:
        del titles[len(titles) // 2 if len(titles) > 2 else 0]
    return " > ".join(titles)


def _clean_title(title: str) -> str:
    """Return a title without the addresses of its links."""
    return (_LINK.sub(r"\1", title) if "[" in title else title)[:MAX_TITLE_CHARS]


def _join_blocks(place: str, blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    held, size = list[Block](), 0
    for group in _group_blocks(blocks):
        length = sum(len(each.text) + 1 for each in group)
        if held and size + length > TARGET_CHARS:
            yield from _cut_passages(place, held)
            held, size = [], 0
        held, size = [*held, *group], size + length
    yield from _cut_passages(place, held)


def _group_blocks(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield blocks that belong together, as far as they fit into a passage."""
    group, size = list[Block](), 0
    for block in blocks:
        length = len(block.text) + 1
        most = MAX_PASSAGE_CHARS if size + length <= MAX_PASSAGE_CHARS else TARGET_CHARS
        if group and (not block.is_joined or size + length > most):
            yield group
            group, size = [], 0
        group.append(block)
        size += length
    if group:
        yield group


def _cut_passages(place: str, blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    text = "\n".join(block.text for block in blocks)
    if blocks and blocks[0].columns:
        place = f"{place}{COLUMNS_MARK}{blocks[0].columns}".removeprefix("; ")
    for part in split_long_text(text.strip("\n"), TARGET_CHARS, MAX_PASSAGE_CHARS):
        if part.strip():
            yield place, part.strip("\n").rstrip()


def _split_rows(source: str, text: str) -> Iterator[Passage]:
    lines = [line for line in text.splitlines() if line.strip()]
    columns, start = (lines[0][:300] if lines else ""), 0
    while start < len(lines):
        end, size = start, 0
        while end < len(lines) and (end == start or size + len(lines[end]) <= TARGET_CHARS):
            size += len(lines[end]) + 1
            end += 1
        place = f"lines {start + 1}-{end}" + (f"{COLUMNS_MARK}{columns}" if start else "")
        for part in split_long_text("\n".join(lines[start:end]), TARGET_CHARS, MAX_PASSAGE_CHARS):
            yield Passage(source, place, part.strip())
        start = end
