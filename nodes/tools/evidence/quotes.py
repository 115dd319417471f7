"""Whether words stand in a text, however their spaces, quotes and dashes are written."""

import re
import unicodedata

from nodes.limits.patterns import Pattern
from nodes.tools.evidence.figures import figures

_SIGNS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b`\u00b4\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("*_#|>", " ")
)
_ELLIPSIS = Pattern(r"\[?(?:\.{3}|…)\]?")
_ROW = Pattern(r"^[^:;]+:[^;]*(?:;[^:;]+:[^;]*)*$")


def folded(text: str) -> str:
    """Bring a text to the form in which quotations are compared."""
    signs = unicodedata.normalize("NFKC", text.replace("…", "...")).translate(_SIGNS)
    return " ".join(signs.casefold().split())


def quote_stands_in(quote: str, text: str) -> bool:
    """Tell whether a quotation stands in a text; its parts around `...` in their order."""
    place, haystack = 0, folded(text)
    parts = [part for part in map(folded, _ELLIPSIS.split(quote)) if part.strip(" \"'.,;")]
    for part in parts:
        bare = part.strip(" \"'")
        found = haystack.find(bare, place)
        if found < 0:
            return row_stands_in(quote, text)
        place = found + len(bare)
    return bool(parts)


def row_stands_in(quote: str, text: str) -> bool:
    """Tell whether a row quoted as `column: value; column: value` is a line of the text."""
    if not _ROW.match(quote):
        return False
    values = [pair.partition(":")[2].strip() for pair in quote.split(";")]
    known = [value for value in values if value and value != "None"]
    return bool(known) and any(
        all(_cell_stands_in(value, line) for value in known) for line in text.splitlines()
    )


def _cell_stands_in(value: str, line: str) -> bool:
    if Pattern(rf"(?<!\w){re.escape(folded(value))}(?!\w)").search(folded(line)):
        return True
    wanted = figures(value)
    held = {figure.value for figure in figures(Pattern(r"[;,\t|]").sub(" ", line))}
    return bool(wanted) and all(figure.value in held for figure in wanted)
