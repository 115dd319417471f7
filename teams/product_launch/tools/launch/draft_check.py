"""Check one text against its channel: too long, forbidden, or fine."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from extensions.tools.tables.reader import read_headers, read_table
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from state import Severity

from . import counting
from .channels import Channel, load_channel_book
from .drafts import Draft

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
        parts = counting.measure_sms(text)[2]
        signs = "" if most == counting.SMS_GSM_CHARS else " with signs outside the GSM alphabet"
        remark = f"takes {parts} messages: {length} characters, and one{signs} holds {most}"
        yield DraftRemark("medium", remark)
    elif channel.is_advice:
        yield DraftRemark("low", f"is {length - most} over the {most} that are advised")
    else:
        yield DraftRemark("high", f"is {length - most} too long")
