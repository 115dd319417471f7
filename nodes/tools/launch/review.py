"""One text held against its channel: too long, forbidden, or fine."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.launch import counting
from nodes.tools.launch.channels import Book, Channel
from nodes.tools.launch.drafts import Draft
from nodes.tools.materials import material_text
from nodes.tools.plain_text import plain_line
from nodes.tools.tables.reading import heads, read_table
from nodes.tools.tables.writing import finding
from state import Severity

FORBIDDEN = ("forbidden", "forbidden_word", "forbidden_claim", "banned", "avoid")
REASON = ("reason", "why", "source")
MAX_WORDS = 200
MAX_SHOWN_CHARS = 48
MAX_REMARK_CHARS, MAX_MESSAGE_CHARS = 160, 400


@dataclass(frozen=True)
class Remark:
    """What is wrong with a text, and who says so."""

    severity: Severity
    text: str
    source: str = ""


@dataclass(frozen=True)
class Review:
    """A draft held against its channel."""

    draft: Draft
    channel: Channel
    length: int
    most: int
    remarks: tuple[Remark, ...]

    @property
    def text(self) -> str:
        """Give the text as it is shown."""
        return plain_line(self.draft.text, MAX_SHOWN_CHARS).replace("|", "/")

    def row(self) -> list[str]:
        """Give the row of a table."""
        said = "; ".join(remark.text for remark in self.remarks).replace("|", "/") or "fits"
        shown = plain_line(said, MAX_REMARK_CHARS)
        return [self.channel.title, self.text, str(self.length), str(self.most), shown]

    def finding(self) -> list[dict[str, Any]]:
        """Give one finding for all that is wrong, as grave as the gravest of it; none for none."""
        if not self.remarks:
            return []
        said = "; ".join(
            f"{remark.text} ({remark.source})" if remark.source else remark.text
            for remark in self.remarks
        )
        gravest = min((remark.severity for remark in self.remarks), key=get_args(Severity).index)
        message = plain_line(f"{self.channel.title} {self.text!r}: {said}", MAX_MESSAGE_CHARS)
        return [finding(gravest, message, self.draft.source, self.draft.line)]


def review(draft: Draft, book: Book, forbidden: Mapping[str, str]) -> Review:
    """Hold a draft against its channel, the rules, and the words a user forbids."""
    channel = book.channels[draft.channel]
    length, most = channel.length(draft.text)
    remarks = [*_length(channel, draft.text, length, most)]
    for rule in book.rules:
        words = rule.broken_by(draft.channel, draft.text)
        if words is not None:
            quoted = f": {plain_line(words, MAX_SHOWN_CHARS)!r}" if words else ""
            remarks.append(Remark(rule.severity, f"{rule.says}{quoted}", rule.source))
    for word, reason in forbidden.items():
        if Pattern(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE).search(draft.text):
            remarks.append(Remark("high", f"says {word!r}, which you forbid", reason))
    return Review(draft, channel, length, most, tuple(remarks))


def forbidden_words(materials: Mapping[str, str] | None) -> dict[str, str]:
    """Read the words a user forbids, with the reasons, from CSV materials that list them.

    Raises:
        ToolRefused: there are too many, or a table cannot be read.
    """
    words: dict[str, str] = {}
    for head in heads(materials):
        if head.column(FORBIDDEN) is None:
            continue
        table = read_table(head.name, material_text(head.name, materials))
        column, why = table.column(FORBIDDEN), table.column(REASON)
        assert column is not None, "the head has it"
        for row in table.rows:
            if word := plain_line(row.cells[column], MAX_SHOWN_CHARS):
                words[word] = plain_line(row.cells[why], 120) if why is not None else ""
    if len(words) > MAX_WORDS:
        raise ToolRefused(f"{len(words)} forbidden words, of at most {MAX_WORDS}; give fewer")
    return words


def _length(channel: Channel, text: str, length: int, most: int) -> list[Remark]:
    if length <= most:
        return []
    if channel.count == "sms":
        parts = counting.sms(text)[2]
        signs = "" if most == counting.SMS_PLAIN else " with signs outside the GSM alphabet"
        text = f"takes {parts} messages: {length} characters, and one{signs} holds {most}"
        return [Remark("medium", text)]
    if channel.is_advice:
        return [Remark("low", f"is {length - most} over the {most} that are advised")]
    return [Remark("high", f"is {length - most} too long")]
