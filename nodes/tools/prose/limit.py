"""The number of words that a request allows."""

import re

_LIMIT = re.compile(
    r"(?:at most|no more than|not more than|up to|under|below|within|maximum of|max\.?|limit of"
    r"|longer than|fewer than|less than)\s+(\d[\d,]{0,6})\s+words"
    r"|(\d[\d,]{0,6})[\s-]+words?\s+(?:or\s+(?:fewer|less)|at\s+most|maximum|max\b|limit)",
    re.IGNORECASE,
)
_STRICT = re.compile(r"(?:under|below|fewer than|less than)\s", re.IGNORECASE)


def words_allowed(request: str) -> int | None:
    """Give the most words that a text may have by a request; None where it does not say."""
    found = _LIMIT.search(request)
    if found is None:
        return None
    number = int((found[1] or found[2]).replace(",", ""))
    return number - bool(_STRICT.match(found[0]))
