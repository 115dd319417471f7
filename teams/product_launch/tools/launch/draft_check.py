"""Check one text against its channel: too long, forbidden, or fine."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.materials import get_material_text
from nodes.tools.tables.formatting import build_finding
from nodes.tools.tables.reader import read_headers, read_table
from state import Severity

from . import counting
from .channels import Channel, ChannelBook
from .drafts import Draft

FORBIDDEN_COLUMNS = ("forbidden", "forbidden_word", "forbidden_claim", "banned", "avoid")
REASON_COLUMNS = ("reason", "why", "source")
MAX_WORDS = 200
MAX_SHOWN_CHARS = 48
MAX_REMARK_CHARS, MAX_MESSAGE_CHARS = 160, 400


@dataclass(frozen=True)
class DraftRemark:
    """What is wrong with a text, and the source of the rule."""

    severity: Severity
    text: str
    source: str = ""


@dataclass(frozen=True)
class DraftCheck:
    """The result of checking a draft against its channel."""

    draft: Draft
    channel: Channel
    length: int
    max_length: int
    remarks: tuple[DraftRemark, ...]

    @property
    def short_text(self) -> str:
        """Return the text shortened for display."""
        return sanitize_line(self.draft.text, MAX_SHOWN_CHARS).replace("|", "/")

    def to_row(self) -> list[str]:
        """Return the row of a table."""
        said = "; ".join(remark.text for remark in self.remarks).replace("|", "/") or "fits"
        shown = sanitize_line(said, MAX_REMARK_CHARS)
        return [self.channel.title, self.short_text, str(self.length), str(self.max_length), shown]

    def list_findings(self) -> list[dict[str, Any]]:
        """Return one finding for all remarks, with the worst severity; none without remarks."""
        if not self.remarks:
            return []
        said = "; ".join(
            f"{remark.text} ({remark.source})" if remark.source else remark.text
            for remark in self.remarks
        )
        gravest = min((remark.severity for remark in self.remarks), key=get_args(Severity).index)
        message = sanitize_line(
            f"{self.channel.title} {self.short_text!r}: {said}", MAX_MESSAGE_CHARS
        )
        return [build_finding(gravest, message, self.draft.source, self.draft.line)]


def check_draft(draft: Draft, book: ChannelBook, forbidden: Mapping[str, str]) -> DraftCheck:
    """Check a draft against its channel, the rules, and the words a user forbids."""
    channel = book.channels[draft.channel]
    length, most = channel.measure_text(draft.text)
    remarks = [*_check_length(channel, draft.text, length, most)]
    for rule in book.rules:
        words = rule.find_violation(draft.channel, draft.text)
        if words is not None:
            quoted = f": {sanitize_line(words, MAX_SHOWN_CHARS)!r}" if words else ""
            remarks.append(DraftRemark(rule.severity, f"{rule.says}{quoted}", rule.source))
    for word, reason in forbidden.items():
        if Pattern(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE).search(draft.text):
            remarks.append(DraftRemark("high", f"says {word!r}, which you forbid", reason))
    return DraftCheck(draft, channel, length, most, tuple(remarks))


def load_forbidden_words(materials: Mapping[str, str] | None) -> dict[str, str]:
    """Read the words a user forbids, with the reasons, from CSV materials that list them.

    Raises:
        ToolRefused: there are too many, or a table cannot be read.
    """
    words: dict[str, str] = {}
    for head in read_headers(materials):
        if head.find_column(FORBIDDEN_COLUMNS) is None:
            continue
        table = read_table(head.name, get_material_text(head.name, materials))
        column, why = table.find_column(FORBIDDEN_COLUMNS), table.find_column(REASON_COLUMNS)
        assert column is not None, "the head has it"
        for row in table.rows:
            if word := sanitize_line(row.cells[column], MAX_SHOWN_CHARS):
                words[word] = sanitize_line(row.cells[why], 120) if why is not None else ""
    if len(words) > MAX_WORDS:
        raise ToolRefused(f"{len(words)} forbidden words, of at most {MAX_WORDS}; give fewer")
    return words


def _check_length(channel: Channel, text: str, length: int, most: int) -> list[DraftRemark]:
    if length <= most:
        return []
    if channel.count == "sms":
        parts = counting.measure_sms(text)[2]
        signs = "" if most == counting.SMS_GSM_CHARS else " with signs outside the GSM alphabet"
        text = f"takes {parts} messages: {length} characters, and one{signs} holds {most}"
        return [DraftRemark("medium", text)]
    if channel.is_advice:
        return [DraftRemark("low", f"is {length - most} over the {most} that are advised")]
    return [DraftRemark("high", f"is {length - most} too long")]
