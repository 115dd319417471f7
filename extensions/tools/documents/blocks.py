"""Divide the lines of a section into blocks that are not to be cut: paragraphs, items, rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes.limits.patterns import Pattern
from nodes.text.passage_markdown import find_fence_end

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
