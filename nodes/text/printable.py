"""Makes text printable, and shortens it to a line."""

import unicodedata
from typing import Final

from nodes.errors.redaction import redact_text

_KEPT_CHARACTERS: Final = frozenset("\n\t")
_HIDDEN_CATEGORIES: Final = frozenset(("Cc", "Cf", "Cs", "Co"))
"""Categories of characters that control a terminal, hide text or cannot be encoded."""


def make_printable(text: object) -> str:
    """Return text without secrets and invisible characters: escapes, bidi marks, zero width."""
    shown = redact_text(str(text)).replace("\r\n", "\n")
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join(
        c
        for c in shown
        if c in _KEPT_CHARACTERS or unicodedata.category(c) not in _HIDDEN_CATEGORIES
    )


def to_one_line(text: object, max_chars: int = 100) -> str:
    """Return a text as one line, shortened between two words where possible."""
    line = " ".join(make_printable(text).split())
    if len(line) <= max_chars:
        return line
    cut = line[: max_chars - 1]
    end = cut.rfind(" ")
    # A last word that is most of the line is cut itself.
    is_between = line[max_chars - 1] == " " or end < max_chars // 2
    return f"{cut if is_between else cut[:end]}…"
