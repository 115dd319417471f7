"""Matches an expected text in an answer, ignoring case and spacing."""

import re
import unicodedata
from functools import lru_cache

from nodes.limits.patterns import Pattern


@lru_cache(maxsize=4096)
def build_pattern(expected: str) -> Pattern:
    """Return the pattern of an expected text; text between slashes is a regular expression.

    A text that begins or ends with a digit does not match inside a longer number.

    Raises:
        ValueError: the text between slashes is not a regular expression.
    """
    if len(expected) > 2 and expected.startswith("/") and expected.endswith("/"):
        pattern = Pattern(expected[1:-1], re.IGNORECASE)
        pattern.check()
        return pattern
    letters = "".join(_normalize_text(expected).split())
    # `str.split` also splits at the four ASCII separators.
    body = r"[\s\x1c-\x1f]*".join(map(re.escape, letters))
    before = r"(?<!\d)(?<!\d[.,])" if letters[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if letters[-1:].isdigit() else ""
    return Pattern(f"{before}{body}{after}", re.IGNORECASE)


def is_found_in(expected: str, text: str) -> bool:
    """Return whether a text contains an expected text."""
    return bool(build_pattern(expected).search(_normalize_text(text)))


def _normalize_text(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
