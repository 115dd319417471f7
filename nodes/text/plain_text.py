"""Makes text plain: without secrets and what a reader cannot see, and short enough for a line."""

import unicodedata
from typing import Final

from nodes.errors.redaction import redact_text
from nodes.limits.patterns import Pattern

_INVISIBLE = Pattern(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_SURROGATE = Pattern("[\ud800-\udfff]")
_OTHER_SPACE = Pattern(r"[^\S ]")
_KEPT_CHARACTERS: Final = frozenset("\n\t")
_HIDDEN_CATEGORIES: Final = frozenset(("Cc", "Cf", "Cs", "Co"))
"""Categories of characters that control a terminal, hide text or cannot be encoded."""


def sanitize_text(text: str) -> str:
    """Return a text without control, zero-width and tag characters; tabs and breaks stay."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text  # by far the most texts, and several times as fast
    return _INVISIBLE.sub("", text)


def sanitize_name(name: str) -> str:
    """Return a file's name on one line, without invisible characters.

    Bytes that are not text become replacement characters.
    """
    readable = sanitize_text(_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", name))
    on_one_line = _OTHER_SPACE.sub(" ", readable)
    visible = (c for c in on_one_line if unicodedata.category(c) not in _HIDDEN_CATEGORIES)
    return "".join(visible).strip() or "unnamed"


def sanitize_line(text: str, max_chars: int) -> str:
    """Return a text as one line of limited length."""
    line = " ".join(sanitize_text(text).split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"


def format_as_code(text: str) -> str:
    """Return text as inline code, so that links and pictures in it are not rendered."""
    return f"`{text.replace('`', chr(39))}`"


def make_printable(text: object) -> str:
    """Return text without secrets and invisible characters: escapes, bidi marks, zero width."""
    shown = redact_text(str(text)).replace("\r\n", "\n")
    if shown.isascii() and shown.isprintable():
        return shown
    other = {*shown} - _KEPT_CHARACTERS  # each once: a text may be long, and is shown as it grows
    hidden = [c for c in other if unicodedata.category(c) in _HIDDEN_CATEGORIES]
    return shown.translate(dict.fromkeys(map(ord, hidden))) if hidden else shown


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
