"""Keeping known secrets out of everything that is written, shown, or told to a model.

The settings say what is secret. A value is looked for as it is, and as URLs, JSON and base64 spell
it. What is not known to be a secret, such as a key that stands in a document, is not found.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:  # importing it takes longer than `supervise --help` may
    from langchain_core.messages import AIMessage

MASK: Final = "[secret]"
MIN_CHARS: Final = 8
"""Shorter values are as likely words as secrets."""

_secrets: set[str] = set()
_pattern: re.Pattern[str] | None = None
_byte_pattern: re.Pattern[bytes] | None = None


def register_secrets(values: Iterable[str]) -> None:
    """Know some values as secrets from now on, for the whole process."""
    global _pattern, _byte_pattern
    new = {value for value in values if len(value) >= MIN_CHARS} - _secrets
    if not new:
        return
    _secrets.update(new)
    forms = sorted(
        {form for value in _secrets for form in _list_spellings(value)}, key=len, reverse=True
    )
    _pattern = re.compile("|".join(map(re.escape, forms)))
    _byte_pattern = re.compile(b"|".join(re.escape(form.encode()) for form in forms))


def redact_text(text: str) -> str:
    """Return a text without the secrets in it."""
    return _pattern.sub(MASK, text) if _pattern else text


def redact_value(value: Any) -> Any:
    """Return a JSON value without the secrets in it; the very same one when it holds none."""
    if _pattern is None:
        return value
    match value:
        case str():
            return redact_text(value)
        case Mapping():
            return {redact_value(key): redact_value(item) for key, item in value.items()}
        case list() | tuple():
            return [redact_value(item) for item in value]
        case _:
            return value


def redact_message(message: "AIMessage") -> "AIMessage":
    """Return a model's answer without the secrets that it repeats."""
    if _pattern is None or not _pattern.search(f"{message.content} {message.tool_calls}"):
        return message
    update = {
        "content": redact_value(message.content),
        "tool_calls": redact_value(message.tool_calls),
        "invalid_tool_calls": redact_value(message.invalid_tool_calls),
        "additional_kwargs": {},
    }
    return message.model_copy(update=update)


def redact_bytes(data: bytes) -> bytes:
    """Overwrite the secrets in encoded data, byte for byte: lengths, hence formats, stay whole."""
    if _byte_pattern is None:
        return data
    return _byte_pattern.sub(lambda found: b"*" * len(found.group()), data)


def _list_spellings(value: str) -> set[str]:
    """Spell a secret as it may turn up; of base64 only the part that no neighbour changes."""
    raw = value.encode()
    spelled = {value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]}
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            encoded = encode(b"\0" * before + raw).decode()
            first, end = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
            spelled.add(encoded[first:end])
    return {form for form in spelled if len(form) >= MIN_CHARS}
