"""Whether an expected text stands in an answer: case and spacing do not count."""

import re
import unicodedata
from functools import lru_cache

from nodes.limits.patterns import Pattern


@lru_cache(maxsize=4096)
def build_pattern(expected: str) -> Pattern:
    """Return the pattern of an expected text; one between slashes is one already.

    A text that begins or ends with a figure is not found inside a longer figure.

    Raises:
        ValueError: the text between slashes is no regular expression.
    """
    if len(expected) > 2 and expected.startswith("/") and expected.endswith("/"):
        pattern = Pattern(expected[1:-1], re.IGNORECASE)
        pattern.check()
        return pattern
    letters = "".join(_normalize_text(expected).split())
    # `str.split` also takes the four separators of ASCII for spaces.
    body = r"[\s\x1c-\x1f]*".join(map(re.escape, letters))
    before = r"(?<!\d)(?<!\d[.,])" if letters[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if letters[-1:].isdigit() else ""
    return Pattern(f"{before}{body}{after}", re.IGNORECASE)


def is_found_in(expected: str, text: str) -> bool:
    """Return whether an expected text stands in a text."""
    return bool(build_pattern(expected).search(_normalize_text(text)))


def _normalize_text(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
