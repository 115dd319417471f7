"""Reads the blocks of a chat message, in the forms in which clients send them."""

import mimetypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from nodes.text.plain_text import sanitize_line, sanitize_name
from nodes.tools.framework.document_kinds import DATABASE_SUFFIXES, MATERIAL_SUFFIXES

TEXT_KINDS: Final = frozenset(("text", "input_text"))
FILE_KINDS: Final = frozenset(("file", "input_file", "text-plain", "document", "media"))
UNREAD_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("image", "image_url", "input_image"), "picture"),
    **dict.fromkeys(("audio", "input_audio"), "recording"),
    "video": "video",
}
"""Kinds without a reader, and what one is called."""
MAX_NAME_CHARS: Final = 200
NO_FETCHING: Final = "addresses are not fetched: attach the file itself"
OTHER_SUFFIXES: Final[Mapping[str, str]] = {
    "application/x-pdf": ".pdf",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "application/csv": ".csv",
    "application/yaml": ".yaml",
}
"""By media type, where Python's own table has none or another one."""
_NESTED: Final = ("file", "source", "input_audio", "metadata", "extras", "image_url")
_NAME_KEYS: Final = ("filename", "file_name", "name", "title")


@dataclass(frozen=True)
class Attachment:
    """A file of a chat message; it has a text, base64 content, or a reason why it is not read."""

    name: str
    """One line, without a folder."""
    suffix: str = ""
    """Lower case; it decides how the content is read."""
    text: str | None = None
    encoded: str = ""
    refusal: str = ""


def read_block(block: Any) -> str | Attachment:
    """Return a block of a message: its text, or the file that it holds."""
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return Attachment("a part of the message", refusal="it is neither text nor a file")
    kind = block.get("type")
    if kind in TEXT_KINDS and isinstance(block.get("text"), str):
        return str(block["text"])
    return _read_file(str(kind), _flatten_block(block))


def _flatten_block(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a block together with those of the mappings nested in it."""
    fields = dict(block)
    for name in _NESTED:
        if isinstance(inner := block.get(name), Mapping):
            fields = {**inner, **{key: fields[key] for key in fields if key != name}}
    return fields


def _read_file(kind: str, fields: Mapping[str, Any]) -> Attachment:
    media_type, encoded = _read_content(fields)
    name = _read_name(fields, kind, media_type)
    suffix = _choose_suffix(name, media_type)
    if unread := UNREAD_KINDS.get(kind) or UNREAD_KINDS.get(media_type.partition("/")[0]):
        return Attachment(name, refusal=f"{unread}s cannot be read: attach a document or its text")
    if kind not in FILE_KINDS:
        refusal = f"parts of type {sanitize_line(kind, 40)!r} cannot be read"
        return Attachment(name, refusal=refusal)
    if suffix in DATABASE_SUFFIXES:
        return Attachment(name, refusal="it holds data, not text: save its table as CSV")
    if isinstance(text := fields.get("text"), str):
        return Attachment(name, suffix, text=text)
    if encoded:
        return Attachment(name, suffix, encoded=encoded)
    where = next((key for key in ("url", "file_url", "file_id", "id") if fields.get(key)), "")
    is_by_id = where.endswith("id")
    refusal = "files of other services are not fetched" if is_by_id else NO_FETCHING
    return Attachment(name, refusal=refusal if where else "it has no content")


def _read_content(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return the media type of a block, and its base64 content; empty where there is none."""
    keys = ("mime_type", "mimeType", "media_type", "mediaType")
    media_type = next((str(fields[key]).lower() for key in keys if fields.get(key)), "")
    for key in ("base64", "data", "file_data", "url", "image_url"):
        found = fields.get(key)
        if not isinstance(found, str) or not found:
            continue
        if found.startswith("data:"):
            head, _, content = found[5:].partition(",")
            return media_type or head.partition(";")[0].lower(), content
        if key in ("base64", "data", "file_data"):
            return media_type, found
    return media_type, ""


def _read_name(fields: Mapping[str, Any], kind: str, media_type: str) -> str:
    for key in _NAME_KEYS:
        if isinstance(given := fields.get(key), str) and given.strip():
            name = sanitize_name(PurePath(given.replace("\\", "/")).name)
            return name if len(name) <= MAX_NAME_CHARS else name[-MAX_NAME_CHARS:]
    return UNREAD_KINDS.get(kind, "attachment") + _get_suffix(media_type)


def _choose_suffix(name: str, media_type: str) -> str:
    """Return the suffix by which a file is read: its name's own, unless that is unknown."""
    known = MATERIAL_SUFFIXES | DATABASE_SUFFIXES
    suffixes = (PurePath(name).suffix.lower(), _get_suffix(media_type))
    return next((suffix for suffix in suffixes if suffix in known), ".txt")


def _get_suffix(media_type: str) -> str:
    known = media_type.partition(";")[0].strip()
    return OTHER_SUFFIXES.get(known) or mimetypes.guess_extension(known) or ""


def list_candidate_names(name: str) -> Iterator[str]:
    """Return names for a file, the given one first, then numbered ones; without end."""
    path, number = PurePath(name), 2
    yield name
    while True:
        yield f"{path.stem} ({number}){path.suffix}"
        number += 1
