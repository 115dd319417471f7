"""Mask keys and passwords in untrusted text, so that a report does not spread them."""

import re
from typing import Final

from nodes.limits.patterns import Pattern

MASK: Final = "[hidden]"

_SECRET_WORDS: Final = (
    r"passw(?:or)?d|passphrase|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|signing[_-]?key"
)
_KEY_SHAPES: Final = (
    r"AKIA[0-9A-Z]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,}"
    r"|eyJ[\w-]{10,}\.[\w-]+(?:\.[\w-]*)?"
)
_NAMED_SECRET = Pattern(
    rf"((?:{_SECRET_WORDS}|pwd|authorization)[\"']?\s{{0,9}}[=:]\s{{0,9}}(?:bearer |basic )?)"
    r"(?:\"[^\"\n]{4,}\"|'[^'\n]{4,}'|[\"']?[^\s\"',;&]{4,})",
    re.IGNORECASE,
)
_SECRET_NAME = Pattern(rf"{_SECRET_WORDS}|_pwd\b|\bsalt\b|\bauth\b", re.IGNORECASE)
_PASSWORD_IN_URL = Pattern(r"(://[^\s:/@]{0,80}:)[^\s@/]{1,200}(?=@)")
_KNOWN_KEY = Pattern(rf"\b(?:{_KEY_SHAPES})")
_PEM_HEADER = Pattern(r"-----BEGIN ")


def mask_secrets(text: str) -> str:
    """Mask what looks like a key or a password."""
    text = _NAMED_SECRET.sub(rf"\1{MASK}", text)
    return _KNOWN_KEY.sub(MASK, _PASSWORD_IN_URL.sub(rf"\1{MASK}", text))


def is_secret_name(name: str) -> bool:
    """Return whether a setting holds a secret, by its name."""
    return bool(_SECRET_NAME.search(name))


def looks_secret(value: str) -> bool:
    """Return whether a value is or contains a key or a password, by its form."""
    return any(shape.search(value) for shape in (_PASSWORD_IN_URL, _KNOWN_KEY, _PEM_HEADER))
