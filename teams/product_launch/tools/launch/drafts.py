"""Split copy under headings that name its channel into the texts to publish."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodes.limits.patterns import Pattern

from .channels import ChannelName, PieceKind, find_channel, load_channel_book

MAX_CHARS = 60_000
TEXT_SUFFIXES = (".md", ".markdown", ".txt", ".html", ".docx", ".pdf")

_HEADING = Pattern(r"\s{0,3}(?P<marks>#{1,6})\s++(?P<title>.*[^\s#])[\s#]*+$")
_LIST_MARK = Pattern(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")


@dataclass(frozen=True)
class Draft:
    """A text for one channel, and the line it begins on."""

    channel: ChannelName
    text: str
    source: str
    line: int


def find_drafts(source: str, text: str) -> tuple[list[Draft], list[str]]:
    """Return the texts under headings that name a channel, and the other headings with text."""
    found, unknown = list[Draft](), list[str]()
    for heading, is_title, lines in _split_sections(text[:MAX_CHARS]):
        if channel := find_channel(heading):
            pieces = _split_pieces(lines, load_channel_book().channels[channel].piece)
            found += [Draft(channel, piece, source, line) for line, piece in pieces]
        elif not is_title and any(line.strip() for _, line in lines):
            unknown.append(heading)
    return found, unknown


def find_material_drafts(materials: Mapping[str, str]) -> tuple[list[Draft], list[str]]:
    """Return the drafts of all materials that have any, and their other headings."""
    found, unknown = list[Draft](), list[str]()
    for name, text in materials.items():
        if name.lower().endswith(TEXT_SUFFIXES):
            own, others = find_drafts(name, text)
            found += own
            unknown += others if own else []
    return found, unknown


def _split_sections(text: str) -> Iterator[tuple[str, bool, list[tuple[int, str]]]]:
    """Yield the heading of each section, whether it is a title, and its lines with their numbers.

    Invisible characters are kept: a channel counts them, and they join emojis.
    """
    heading, is_title, lines = "", True, list[tuple[int, str]]()
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if match := _HEADING.match(line):
            yield heading, is_title, lines
            heading, is_title, lines = match["title"], match["marks"] == "#", []
        else:
            lines.append((number, line))
    yield heading, is_title, lines


def _split_pieces(lines: Sequence[tuple[int, str]], piece: PieceKind) -> Iterator[tuple[int, str]]:
    if piece == "line":
        for number, line in lines:
            if text := _LIST_MARK.sub("", line).strip():
                yield number, text
        return
    block = list[tuple[int, str]]()
    for number, line in [*lines, (0, "")]:
        if line.strip() or (piece == "section" and number and block):
            block.append((number, line))
        elif block and (piece == "paragraph" or not number):
            yield block[0][0], "\n".join(text for _, text in block).strip()
            block = []
