"""Turns the files that are attached to chat messages, in any client's form, into materials."""

import asyncio
import base64
import binascii
import mimetypes
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeGuard

from langchain_core.messages import HumanMessage

from nodes.errors import FileUnreadable
from nodes.errors.redaction import redact_text
from nodes.planning.request import ATTACHMENTS_KEY, MAX_MATERIAL_BYTES
from nodes.text.plain_text import sanitize_line, sanitize_name, sanitize_text
from nodes.tools.framework.document_kinds import (
    DATABASE_SUFFIXES,
    MATERIAL_SUFFIXES,
    PARSED_SUFFIXES,
)
from nodes.tools.framework.documents import (
    MAX_PARSERS,
    NOT_TEXT,
    is_binary,
    open_parser,
    read_document_with,
)

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


def explain_unread(block: Any) -> str:
    """Return why a file will not be read, as its kind and its first bytes tell; else empty."""
    file = read_block(block)
    if isinstance(file, str):
        return ""
    if file.refusal or file.suffix in PARSED_SUFFIXES:
        return file.refusal
    try:
        return NOT_TEXT if is_binary(_decode(file)) else ""
    except FileUnreadable as error:
        return error.cause


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


MAX_ATTACHMENTS: Final = 200
MAX_ENCODED_CHARS: Final = 60_000_000
"""Limit for the base64 content of all attachments of an input together."""
MAX_NAMED_UNREAD: Final = 20
"""Limit for the files of a message that are named one by one because they were not read."""
READ_TIMEOUT_S: Final = 120.0
"""Limit for reading all attachments of an input."""

ReadMaterials = Callable[[], Awaitable[Mapping[str, str]]]


async def add_attachments(given: Any, read_kept: ReadMaterials) -> Any:
    """Return an input, as `read_input` does, with the files of its messages as materials.

    What could not be read is recorded in its message, for the gaps of the answer.

    Args:
        read_kept: returns the materials of the thread, which a further message adds to.
    """
    messages = given.get("messages") if isinstance(given, Mapping) else None
    if not isinstance(messages, list) or not any(map(_has_blocks, messages)):
        return given
    materials = dict(given["materials"] if "materials" in given else await read_kept())
    taken, read = set(given.get("materials", ())), []
    room = [MAX_ATTACHMENTS, MAX_ENCODED_CHARS]
    for message in messages:
        read.append(await _read_message(message, materials, taken, room))
    changed = {"materials": materials} if taken else {}
    return {**given, "messages": read, **changed}


def _has_blocks(message: Any) -> TypeGuard[HumanMessage]:
    """Return whether a user's message holds more than words."""
    return isinstance(message, HumanMessage) and isinstance(message.content, list)


async def _read_message(
    message: Any, materials: dict[str, str], taken: set[str], room: list[int]
) -> Any:
    if not _has_blocks(message):
        return message
    blocks = [read_block(block) for block in message.content]
    files = [block for block in blocks if isinstance(block, Attachment)]
    records = []
    read = zip(files, await _read_files(files, room), strict=True)
    for file, part, text in _list_texts(read):
        names = (name + part for name in list_candidate_names(file.name))
        name = next(name for name in names if name not in taken)
        if isinstance(text, FileUnreadable):
            records.append({"name": file.name, "unread": redact_text(text.cause)})
            continue
        size = sum(len(each.encode()) for key, each in materials.items() if key != name)
        if size + len(text.encode()) > MAX_MATERIAL_BYTES:
            limit = f"together the materials have more than {MAX_MATERIAL_BYTES / 1e6:g} MB"
            records.append({"name": file.name, "unread": limit})
            continue
        taken.add(name)
        materials[name] = redact_text(text)
        records.append({"name": name, "unread": ""})
    records = _limit_unread(records)
    words = "\n\n".join(block for block in blocks if isinstance(block, str) and block.strip())
    kept = {**message.additional_kwargs, ATTACHMENTS_KEY: records} if records else {}
    return HumanMessage(
        redact_text(sanitize_text(words)),
        id=message.id,
        name=message.name,
        additional_kwargs=kept or message.additional_kwargs,
    )


def _list_texts(
    read: Iterable[tuple[Attachment, dict[str, str] | FileUnreadable]],
) -> Iterator[tuple[Attachment, str, str | FileUnreadable]]:
    """Yield each text of the files with what follows its file's name, and why others have none."""
    for file, texts in read:
        found = {"": texts} if isinstance(texts, FileUnreadable) else texts
        yield from ((file, part, text) for part, text in found.items())


def _limit_unread(records: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the records of files; of many that were not read only the first are named."""
    unread = [record for record in records if record["unread"]]
    more = unread[MAX_NAMED_UNREAD:]
    if not more:
        return records
    left_out = set(map(id, more))
    named = [record for record in records if id(record) not in left_out]
    why = more[0]["unread"] if len({each["unread"] for each in more}) == 1 else "for like reasons"
    return [*named, {"name": f"{len(more)} more files", "unread": why}]


async def _read_files(
    files: Sequence[Attachment], room: list[int]
) -> list[dict[str, str] | FileUnreadable]:
    """Return the texts of each file, or why there are none."""
    read: list[dict[str, str] | FileUnreadable] = [
        _refuse("reading all files takes longer than two minutes") for _ in files
    ]
    admitted = []
    for number, file in enumerate(files):
        if refusal := file.refusal or _find_refusal(file, room):
            read[number] = _refuse(refusal)
        else:
            room[:] = room[0] - 1, room[1] - _measure(file)
            admitted.append((number, file))
    if not admitted:
        return read
    left = iter(admitted)
    folder = await asyncio.to_thread(TemporaryDirectory, prefix="attachments-")
    try:
        async with asyncio.timeout(READ_TIMEOUT_S), asyncio.TaskGroup() as readers:
            for _ in range(min(MAX_PARSERS, os.cpu_count() or 1, len(admitted))):
                readers.create_task(_read_next_files(left, read, Path(folder.name)))
    except TimeoutError:
        pass  # what was not reached says so
    finally:
        await asyncio.to_thread(folder.cleanup)
    return read


def _find_refusal(file: Attachment, room: Sequence[int]) -> str:
    if not room[0]:
        return f"only {MAX_ATTACHMENTS} files are read"
    if _measure(file) <= room[1]:
        return ""
    return f"all files together may have {MAX_ENCODED_CHARS * 3 / 4e6:g} MB"


def _measure(file: Attachment) -> int:
    return len(file.encoded) + len(file.text or "")


async def _read_next_files(
    left: Iterable[tuple[int, Attachment]],
    read: list[dict[str, str] | FileUnreadable],
    folder: Path,
) -> None:
    async with open_parser() as parser:
        for number, file in left:
            path = folder / f"{number}{file.suffix}"
            try:
                await asyncio.to_thread(_write_file, file, path)
                read[number] = await read_document_with(parser, path)
            except FileUnreadable as error:
                read[number] = error
            finally:
                await asyncio.to_thread(path.unlink, missing_ok=True)


def _write_file(file: Attachment, path: Path) -> None:
    path.write_bytes(_decode(file))


def _decode(file: Attachment) -> bytes:
    if file.text is not None:
        return file.text.encode(errors="replace")
    try:
        encoded = "".join(file.encoded.split()).replace("-", "+").replace("_", "/")
        return base64.b64decode(f"{encoded}{'=' * (-len(encoded) % 4)}", validate=True)
    except (binascii.Error, ValueError):
        raise _refuse("its content is not base64") from None


def _refuse(cause: str) -> FileUnreadable:
    return FileUnreadable("an attachment cannot be read", cause=cause)
