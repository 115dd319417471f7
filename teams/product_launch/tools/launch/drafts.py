"""Split copy under headings that name its channel, and check each text against its channel."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from extensions.tools.tables.reader import read_headers, read_table
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from state import Severity

from .channels import (
    SMS_GSM_CHARS,
    Channel,
    ChannelName,
    PieceKind,
    find_channel,
    load_channel_book,
    measure_sms,
)

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


FORBIDDEN_COLUMNS = ("forbidden", "forbidden_word", "forbidden_claim", "banned", "avoid")
REASON_COLUMNS = ("reason", "why", "source")
MAX_WORDS = 200
MAX_SHOWN_CHARS = 48


@dataclass(frozen=True)
class DraftRemark:
    """What is wrong with a text, and the source of the rule."""

    severity: Severity
    text: str
    source: str = ""

    @property
    def with_source(self) -> str:
        """Return the remark with the source of its rule."""
        return f"{self.text} ({self.source})" if self.source else self.text


@dataclass(frozen=True)
class DraftCheck:
    """The result of checking a draft against its channel."""

    draft: Draft
    channel: Channel
    length: int
    max_length: int
    remarks: tuple[DraftRemark, ...]


def check_draft(draft: Draft, forbidden: Mapping[str, str]) -> DraftCheck:
    """Check a draft against its channel, the rules, and the words a user forbids."""
    channel = load_channel_book().channels[draft.channel]
    length, most = channel.measure_text(draft.text)
    remarks = [*_check_length(channel, draft.text, length, most), *_check_rules(draft)]
    for word, reason in forbidden.items():
        if Pattern(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE).search(draft.text):
            remarks.append(DraftRemark("high", f"says {word!r}, which you forbid", reason))
    return DraftCheck(draft, channel, length, most, tuple(remarks))


def load_forbidden_words(materials: Mapping[str, str]) -> dict[str, str]:
    """Read the words a user forbids, with the reasons, from CSV materials that list them.

    Raises:
        ToolRefused: there are too many, or a table cannot be read.
    """
    words: dict[str, str] = {}
    for head in read_headers(materials):
        column, why = head.find_column(FORBIDDEN_COLUMNS), head.find_column(REASON_COLUMNS)
        if column is None:
            continue
        for row in read_table(head.name, materials[head.name]).rows:
            if word := sanitize_line(row.cells[column], MAX_SHOWN_CHARS):
                words[word] = sanitize_line(row.cells[why], 120) if why is not None else ""
    if len(words) > MAX_WORDS:
        raise ToolRefused(f"{len(words)} forbidden words, of at most {MAX_WORDS}; give fewer")
    return words


def _check_rules(draft: Draft) -> Iterator[DraftRemark]:
    for rule in load_channel_book().rules:
        words = rule.find_violation(draft.channel, draft.text)
        if words is not None:
            quoted = f": {sanitize_line(words, MAX_SHOWN_CHARS)!r}" if words else ""
            yield DraftRemark(rule.severity, f"{rule.says}{quoted}", rule.source)


def _check_length(channel: Channel, text: str, length: int, most: int) -> Iterator[DraftRemark]:
    if length <= most:
        return
    if channel.count == "sms":
        parts = measure_sms(text)[2]
        signs = "" if most == SMS_GSM_CHARS else " with signs outside the GSM alphabet"
        remark = f"takes {parts} messages: {length} characters, and one{signs} holds {most}"
        yield DraftRemark("medium", remark)
    elif channel.is_advice:
        yield DraftRemark("low", f"is {length - most} over the {most} that are advised")
    else:
        yield DraftRemark("high", f"is {length - most} too long")
