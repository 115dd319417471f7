"""Check whether words are in a text, however their spaces, quotes and dashes are written."""

import re
import unicodedata

from nodes.limits.patterns import Pattern
from nodes.tools.evidence.figure_matching import find_figures

_SIGN_REPLACEMENTS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b`\u00b4\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("*_#|>", " ")
)
_ELLIPSIS = Pattern(r"\[?(?:\.{3}|…)\]?")
_ROW_QUOTE = Pattern(r"^[^:;]+:[^;]*(?:;[^:;]+:[^;]*)*$")


def normalize_for_comparison(text: str) -> str:
    """Return a text in the form in which quotations are compared."""
    signs = unicodedata.normalize("NFKC", text.replace("…", "...")).translate(_SIGN_REPLACEMENTS)
    return " ".join(signs.casefold().split())


def is_quote_in(quote: str, text: str) -> bool:
    """Return whether a quotation is in a text; its parts around `...` must be in order."""
    place, haystack = 0, normalize_for_comparison(text)
    parts = [
        part
        for part in map(normalize_for_comparison, _ELLIPSIS.split(quote))
        if part.strip(" \"'.,;")
    ]
    for part in parts:
        bare = part.strip(" \"'")
        found = haystack.find(bare, place)
        if found < 0:
            return is_row_in(quote, text)
        place = found + len(bare)
    return bool(parts)


def is_row_in(quote: str, text: str) -> bool:
    """Return whether a row quoted as `column: value; column: value` is a line of the text."""
    if not _ROW_QUOTE.match(quote):
        return False
    values = [pair.partition(":")[2].strip() for pair in quote.split(";")]
    known = [value for value in values if value and value != "None"]
    return bool(known) and any(
        all(_is_cell_in(value, line) for value in known) for line in text.splitlines()
    )


def _is_cell_in(value: str, line: str) -> bool:
    if Pattern(rf"(?<!\w){re.escape(normalize_for_comparison(value))}(?!\w)").search(
        normalize_for_comparison(line)
    ):
        return True
    wanted = find_figures(value)
    held = {figure.value for figure in find_figures(Pattern(r"[;,\t|]").sub(" ", line))}
    return bool(wanted) and all(figure.value in held for figure in wanted)
