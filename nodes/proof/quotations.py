"""Whether and where words are in a text, however their spaces, marks and hyphens are written."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from nodes.limits.patterns import Pattern
from state import Claim

_MARKS: Final = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b`\u00b4\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u00ad\u200b\u2060\ufeff", None)
    | dict.fromkeys("*_#|>", " ")
)
_LINK: Final = Pattern(r"\[([^\]\n]{0,400})\]\([^)\s]{0,2000}\)")
_HYPHEN: Final = Pattern(r"(?<=[^\W\d_])-\s*(?=[^\W\d_])")
"""Between letters: a hyphen may be one of a line break."""
_ELLIPSIS: Final = Pattern(r"\[?(?:\.{3}|…)\]?")
_ROW: Final = Pattern(r"^[^:;]+:[^;]*(?:;[^:;]+:[^;]*)*$")
MAX_LEFT_OUT_CHARS: Final = 600
"""Between two parts of a quotation with an ellipsis: one passage, not two."""
MAX_QUOTATION_CHARS: Final = 20_000


@lru_cache(maxsize=128)
def normalize_words(text: str) -> str:
    """Return a text in the form in which quotations are compared."""
    plain = _LINK.sub(r"\1", text) if "](" in text else text
    plain = unicodedata.normalize("NFKC", plain.replace("…", "...")).translate(_MARKS)
    return " ".join(_HYPHEN.sub("", plain).casefold().split())


def is_quoted(quotation: str, text: str) -> bool:
    """Return whether a quotation is in a text; its parts around `...` in order and near.

    Also a row that is quoted as `column: value; column: value`. One above 20,000 characters is not.
    """
    return locate_words(quotation, text) is not None or is_row_in(quotation, text)


def split_at_ellipsis(quotation: str) -> list[str]:
    """Return the parts of a quotation between which words are left out."""
    return _ELLIPSIS.split(quotation)


def locate_words(quotation: str, text: str) -> tuple[int, int] | None:
    """Return where a quotation begins and ends in the normalized text; None if it is not there."""
    if len(quotation) > MAX_QUOTATION_CHARS:
        return None
    wanted = (normalize_words(part).strip(" \"'-") for part in split_at_ellipsis(quotation))
    parts = [part for part in wanted if part.strip(".,;:-")]
    haystack = normalize_words(text)
    start = haystack.find(parts[0]) if parts else -1
    while start >= 0:
        end = start + len(parts[0])
        for part in parts[1:]:
            found = haystack.find(part, end, end + MAX_LEFT_OUT_CHARS + len(part))
            if found < 0:
                break
            end = found + len(part)
        else:
            return start, end
        start = haystack.find(parts[0], start + 1)
    return None


def is_row_in(quotation: str, text: str) -> bool:
    """Return whether a row quoted as `column: value; column: value` is a line of the text."""
    if len(quotation) > MAX_QUOTATION_CHARS or not _ROW.match(quotation):
        return False
    pairs = [pair.partition(":") for pair in quotation.split(";")]
    named = normalize_words(text)
    if not all(normalize_words(column) in named for column, _, _ in pairs):
        return False
    values = [value.strip() for _, _, value in pairs if value.strip() not in ("", "None")]
    if not values:
        return False
    known = [_match_cell(value) for value in values]
    rare = max(values, key=len).partition(".")[0]
    return any(
        all(cell.search(line) for cell in known)
        for line in text.splitlines()
        if rare in line or rare.casefold() in line.casefold() or not rare.isascii()
    )


def _match_cell(value: str) -> Pattern:
    """Return a pattern of a cell; a number may have other decimals of zero."""
    number = value.rstrip("0").rstrip(".") if "." in value else value
    bare = number.replace(",", "")
    is_number = bare.replace(".", "").lstrip("-").isdigit()
    written = re.escape(bare) + (r"(?:\.0+)?" if "." not in bare else "0*")
    words = rf"(?:{re.escape(value)}|{written})" if is_number else re.escape(value)
    return Pattern(rf"(?<![\w.]){words}(?![\w]|\.\d)", re.IGNORECASE)


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
