"""Makes text printable, shortens it, or wraps it to a width."""

import textwrap
import unicodedata
from typing import Final

from nodes.errors.redaction import redact_text

_MIN_COLUMNS: Final = 10
"""Minimal width for wrapping; narrower lines are unchanged."""
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


def wrap_lines(text: str, width: int) -> str:
    """Wrap lines between words to fit a width; continuation lines are indented.

    A word that is longer than a line is not broken, so that it can be copied from a terminal.
    """
    return "\n".join(_wrap_line(line, width) for line in text.split("\n"))


def _wrap_line(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip(" "))]
    if len(line) <= width or width - len(indent) < _MIN_COLUMNS:
        return line
    return textwrap.fill(
        line.strip(" "),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
