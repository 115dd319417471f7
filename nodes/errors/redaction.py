"""Removes known secrets from everything that is written, shown, or sent to a model.

The settings name the secrets. A value is searched as it is, and in its URL, JSON and base64 forms.
What is not known as a secret, such as a key in a document, is not found.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:  # importing it takes longer than `supervise --help` may
    from langchain_core.messages import AIMessage

MASK: Final = "[secret]"
MIN_CHARS: Final = 8
"""Shorter values are as likely to be ordinary words."""

_secrets: set[str] = set()
_pattern: re.Pattern[str] | None = None
_byte_pattern: re.Pattern[bytes] | None = None


def register_secrets(values: Iterable[str]) -> None:
    """Register secrets for redaction, for the whole process."""
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


@contextmanager
def forget_new_secrets() -> Iterator[None]:
    """Forget at the end what is registered meanwhile: files of others name no secrets of the user.

    They could name words of a warning about themselves.
    """
    global _secrets, _pattern, _byte_pattern
    before = set(_secrets), _pattern, _byte_pattern
    try:
        yield
    finally:
        _secrets, _pattern, _byte_pattern = before


def redact_text(text: str) -> str:
    """Return a text without the secrets in it."""
    return _pattern.sub(MASK, text) if _pattern and len(text) >= MIN_CHARS else text


def redact_value(value: Any) -> Any:
    """Return a JSON value without the secrets in it; the same object when none are registered."""
    if _pattern is None or value is None:
        return value
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {redact_value(key): redact_value(item) for key, item in value.items()}
    return [redact_value(item) for item in value] if isinstance(value, list | tuple) else value


def redact_message(message: "AIMessage") -> "AIMessage":
    """Return a model's answer without the secrets in it."""
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
    """Return encoded data with its secrets overwritten byte for byte, so that lengths stay."""
    if _byte_pattern is None:
        return data
    return _byte_pattern.sub(lambda match: b"*" * len(match.group()), data)


def _list_spellings(value: str) -> set[str]:
    """Return the encodings of a secret; of base64 only the part that does not depend on context."""
    raw = value.encode()
    spellings = {value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]}
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            encoded = encode(b"\0" * before + raw).decode()
            first, end = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
            spellings.add(encoded[first:end])
    return {form for form in spellings if len(form) >= MIN_CHARS}


def hide_folders(value: Any, *folders: Path) -> Any:
    """Return a JSON value in whose texts the folders are an ellipsis: a viewer needs none."""
    match value:
        case str():
            for folder in sorted(map(str, folders), key=len, reverse=True):
                value = value.replace(folder, "…") if len(folder) > 1 else value
            return value
        case Mapping():
            return {key: hide_folders(item, *folders) for key, item in value.items()}
        case list() | tuple():
            return [hide_folders(item, *folders) for item in value]
        case _:
            return value
