"""Whether words are in a text, however their spaces, line breaks, marks and hyphens are written."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from nodes.limits.patterns import Pattern

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
