"""The channels that copy is written for: their limits and rules, each with its source."""

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, Field

from nodes.limits.patterns import Pattern
from state import Severity

from . import counting

ChannelName = Literal[
    "google_ads_headline",
    "google_ads_description",
    "google_ads_path",
    "x_post",
    "sms",
    "email_subject",
    "app_store_name",
    "app_store_subtitle",
    "app_store_promotional_text",
    "app_store_keywords",
    "app_store_description",
    "google_play_title",
    "google_play_short_description",
    "google_play_description",
]
PieceKind = Literal["line", "paragraph", "section"]
CountMethod = Literal["characters", "wide", "bytes", "x", "sms"]
_CHANNELS_FILE = Path(__file__).with_name("channels.yaml")


class Channel(BaseModel, frozen=True, extra="forbid"):
    """A channel for copy, with the maximum length of a text."""

    title: str
    names: tuple[str, ...]
    """Names that headings may use for it."""
    count: CountMethod
    piece: PieceKind
    max: int = Field(gt=0)
    is_advice: bool = False
    """The channel accepts more, but readers see less."""
    source: str

    def measure_text(self, text: str) -> tuple[int, int]:
        """Return a text's length as this channel counts it, and the maximum for such a text."""
        if self.count == "sms":
            return counting.measure_sms(text)[:2]
        return counting.COUNTERS[self.count](text), self.max


def _checked(text: str) -> str:
    Pattern(text).check()
    return text


Expression = Annotated[str, AfterValidator(_checked)]
"""A regular expression."""


class CopyRule(BaseModel, frozen=True, extra="forbid"):
    """A rule on what copy must not, or must, contain."""

    channels: tuple[ChannelName, ...] = ()
    """Empty if it applies to all channels."""
    pattern: Expression | None = None
    lacks: Expression | None = None
    is_exact: bool = False
    says: str
    severity: Severity = "medium"
    source: str = ""

    def find_violation(self, channel: ChannelName, text: str) -> str | None:
        """Return the words that break the rule; empty if words are missing, None if it is kept."""
        if self.channels and channel not in self.channels:
            return None
        flags = re.NOFLAG if self.is_exact else re.IGNORECASE
        if self.lacks is not None:
            return None if Pattern(self.lacks, flags).search(text) else ""
        assert self.pattern is not None, "a rule has either"
        found = Pattern(self.pattern, flags).search(text)
        return found.group() if found else None


class ChannelBook(BaseModel, frozen=True, extra="forbid"):
    """All channels by key, and all rules."""

    channels: dict[ChannelName, Channel]
    rules: tuple[CopyRule, ...]


@cache
def load_channel_book() -> ChannelBook:
    """Load the shipped channels and rules."""
    return ChannelBook.model_validate(yaml.safe_load(_CHANNELS_FILE.read_text(encoding="utf-8")))


def find_channel(heading: str) -> ChannelName | None:
    """Return the channel that a heading names; of several, the one with the longest name."""
    words = f" {' '.join(Pattern(r'[a-z0-9]+').findall(heading.lower()))} "
    channels = load_channel_book().channels
    names = [(name, key) for key, channel in channels.items() for name in channel.names]
    fitting = [(len(name), key) for name, key in names if Pattern(rf" {name}s? ").search(words)]
    return max(fitting)[1] if fitting else None
