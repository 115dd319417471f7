"""Keys and passwords that stand in logs, which a report must not spread."""

import re
from typing import Final

MASK: Final = "[hidden]"

_NAMED = re.compile(
    r"((?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|authorization)[\"']?\s*[=:]\s*[\"']?"
    r"(?:bearer |basic )?)[^\s\"',;&]{4,}",
    re.IGNORECASE,
)
_IN_ADDRESS = re.compile(r"(\w{2,20}://[^\s:/@]{1,80}:)[^\s@/]{1,200}(?=@)")
_KNOWN = re.compile(r"\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{30,}|sk-[\w-]{20,}|xox[bap]-[\w-]{10,})")


def masked(text: str) -> str:
    """Hide what looks like a key or a password."""
    text = _NAMED.sub(rf"\1{MASK}", text)
    return _KNOWN.sub(MASK, _IN_ADDRESS.sub(rf"\1{MASK}", text))
