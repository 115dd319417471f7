"""Count the words of a text, and find the limit that a request sets."""

import re

from nodes.limits.patterns import Pattern

_COMMENT = Pattern(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LIMIT = Pattern(
    r"(?:at most|no more than|not more than|up to|under|below|within|maximum of|max\.?|limit of"
    r"|longer than|fewer than|less than)\s+(\d[\d,]{0,6})\s+words"
    r"|(\d[\d,]{0,6})[\s-]+words?\s+(?:or\s+(?:fewer|less)|at\s+most|maximum|max\b|limit)",
    re.IGNORECASE,
)
_STRICT = Pattern(r"(?:under|below|fewer than|less than)\s", re.IGNORECASE)


def count_words(text: str) -> int:
    """Count the words of a whole text by its spaces, headings included."""
    return sum(any(map(str.isalnum, word)) for word in _COMMENT.sub("", text).split())


def find_word_limit(request: str) -> int | None:
    """Return the word limit that a request sets; None if it sets none."""
    found = _LIMIT.search(request)
    if found is None:
        return None
    number = int((found[1] or found[2]).replace(",", ""))
    return number - bool(_STRICT.match(found[0]))
