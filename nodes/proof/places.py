"""Where the quotations of claims are in the texts they are from, with what is around them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from state import Claim

MAX_PLACES: Final = 12
"""Limit for one report."""
CONTEXT_CHARS: Final = 200
"""Of the text before a quotation, and of that after it."""


def find_quotation_places(
    claims: Iterable[Claim], texts: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the place of each claim's quotation in its source, where the source's text is known.

    A place has `claim` (its index), `source`, `line` (from 1), `before`, `quote` as it is in the
    text, and `after`. A quotation that is not in the text word for word has none.
    """
    places: list[dict[str, Any]] = []
    for number, claim in enumerate(claims):
        text = texts.get(claim.source)
        place = _find_place(claim.quotation, text) if text and claim.quotation.strip() else None
        if place and len(places) < MAX_PLACES:
            places.append({"claim": number, "source": claim.source, **place})
    return places


def _find_place(quote: str, text: str) -> dict[str, Any] | None:
    """Return where a quotation is: word for word, as a row of a table, or with other spaces."""
    quote = quote.strip()
    found = quote if quote in text else _find_row(quote, text)
    if found:
        start = text.find(found)
        return {"line": text.count("\n", 0, start) + 1, **_cut_around(found, text, start)}
    quote, text = (" ".join(words.split()) for words in (quote, text))
    start = text.find(quote)
    return _cut_around(quote, text, start) if start >= 0 else None


def _find_row(quote: str, text: str) -> str:
    """Return the first line that holds every value of `column: value; column: value`, or ""."""
    pairs = [pair.partition(":") for pair in quote.split(";")]
    values = [value.strip() for _, colon, value in pairs if colon and value.strip()]
    if len(values) < max(2, len(pairs)):
        return ""
    return next((line for line in text.splitlines() if all(value in line for value in values)), "")


def _cut_around(quote: str, text: str, start: int) -> dict[str, str]:
    end = start + len(quote)
    return {
        "before": text[max(0, start - CONTEXT_CHARS) : start],
        "quote": quote,
        "after": text[end : end + CONTEXT_CHARS],
    }
