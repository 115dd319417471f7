"""Measure the length of a text, as each channel counts it."""

import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

import gsm0338  # type: ignore[import-untyped]  # noqa: F401  registers the GSM codec
import regex  # type: ignore[import-untyped]  # noqa: TID251  single characters cannot be slow

from nodes.limits.patterns import Pattern

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
