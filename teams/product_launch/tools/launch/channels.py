"""The channels that copy is written for: their limits and rules, each with its source."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

import gsm0338  # type: ignore[import-untyped]  # noqa: F401  registers the GSM codec
import regex  # type: ignore[import-untyped]  # noqa: TID251  single characters cannot be slow
import yaml
from pydantic import AfterValidator, BaseModel, Field

from nodes.limits.patterns import Pattern
from state import Severity

X_URL_WEIGHT = 23
"""Length of any address in a post on X, which shortens them."""
SMS_GSM_CHARS, SMS_GSM_PART_CHARS = 160, 153
SMS_UCS2_CHARS, SMS_UCS2_PART_CHARS = 70, 67
"""Characters of one message, and of each part of a longer one, in the GSM alphabet and outside."""

_URL = Pattern(r"https?://[^\s<>\"]+|\bwww\.[^\s<>\"]+")
_EMOJI = regex.compile(r"\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3")
_WEIGHT_ONE_RANGES = ((0, 4351), (8192, 8205), (8208, 8223), (8242, 8247))
"""Code points that weigh one on X; all others weigh two."""


def count_characters(text: str) -> int:
    """Count characters."""
    return len(unicodedata.normalize("NFC", text))


def count_display_width(text: str) -> int:
    """Count characters; those of double width count twice."""
    plain = unicodedata.normalize("NFC", text)
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in plain)


def count_bytes(text: str) -> int:
    """Count bytes."""
    return len(text.encode())


def count_x_weight(text: str) -> int:
    """Count as X does: an address as 23, an emoji as two, letters of most other scripts as two."""
    plain = unicodedata.normalize("NFC", text)
    addresses = len(_URL.findall(plain))
    return X_URL_WEIGHT * addresses + sum(
        map(_weigh_grapheme, regex.findall(r"\X", _URL.sub("", plain)))
    )


def measure_sms(text: str) -> tuple[int, int, int]:
    """Return the length of a text message, the maximum of one message, and how many it takes."""
    try:
        length, one, part = len(text.encode("gsm03.38")), SMS_GSM_CHARS, SMS_GSM_PART_CHARS
    except UnicodeEncodeError:
        length, one, part = len(text.encode("utf-16-be")) // 2, SMS_UCS2_CHARS, SMS_UCS2_PART_CHARS
    return length, one, 1 if length <= one else -(-length // part)


def _weigh_grapheme(grapheme: str) -> int:
    if len(grapheme) > 1 and _EMOJI.search(grapheme):
        return 2
    return sum(
        1 if any(low <= ord(c) <= high for low, high in _WEIGHT_ONE_RANGES) else 2 for c in grapheme
    )


COUNTERS: Final[Mapping[str, Callable[[str], int]]] = {
    "characters": count_characters,
    "wide": count_display_width,
    "bytes": count_bytes,
    "x": count_x_weight,
}
"""How channels count a text, but for text messages."""


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
            return measure_sms(text)[:2]
        return COUNTERS[self.count](text), self.max


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
