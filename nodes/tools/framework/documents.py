"""Read a document file as text."""

import asyncio
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from nodes.errors import FileUnreadable, ToolFailed, ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_text
from nodes.tools.framework.document_kinds import PARSED_SUFFIXES, WORKBOOK_SUFFIXES
from nodes.tools.framework.isolation import IsolatedFunction, run_isolated_blocking

_parsers: list[str] = []
_formats: list[str] = []
MAX_FILE_BYTES = 50_000_000
MAX_TEXT_CHARS = 2_000_000
CUT_MARK = f"\n[cut at {MAX_TEXT_CHARS} characters]"
"""Ends a text that is too long."""
_CUT_MARK_PATTERN = Pattern(r"\n\[cut(?: at \d+ characters|: the first \d+ of \d+ pages)\]\s*$")
_MAX_MARK_CHARS = 100
NOT_TEXT = "it is no text (a picture, or another binary file)"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
PARSE_TIMEOUT_S = 30.0
MAX_PARSERS = 4
"""Processes that parse at the same time."""


def register_parser(function: str) -> None:
    """Read the kinds of files that need a parser with a function, `module:name`.

    It is run in a process of its own, with `path`, `suffix` and `max_chars`.
    """
    _parsers[:] = [function]


def register_passage_format(function: str) -> None:
    """Show what a search of documents has found with a function, `module:name`."""
    _formats[:] = [function]


def format_passage(result: Mapping[str, str]) -> str:
    """Return a result of a search, with `source`, `place` and `text`, as Markdown."""
    if not _formats:
        quoted = "\n".join(f"> {line}" for line in result["text"].split("\n"))
        return f"{result['source']}\n\n{quoted}"
    module, _, name = _formats[0].partition(":")
    return str(getattr(import_module(module), name)(result))


def open_parser() -> IsolatedFunction:
    """Return a process that reads one document after the other; its first one starts it."""
    return IsolatedFunction("".join(_parsers), timeout_s=PARSE_TIMEOUT_S)


def read_document(path: Path) -> dict[str, str]:
    """Read a document as text; pages of a PDF are separated by a form feed.

    Returns:
        Its text, or those of a workbook's sheets, by what follows the file's name: "" or "#Sheet".

    Raises:
        FileUnreadable: missing, not a regular file, too large, binary, encrypted or empty.
    """
    if path.suffix.lower() not in PARSED_SUFFIXES:
        _check_file(path)
        return {"": _prepare_text(path, _read_text(path))}
    try:
        request = _build_request(path)
        answer = run_isolated_blocking(_parsers[0], timeout_s=PARSE_TIMEOUT_S, **request)
    except (ToolFailed, ToolRefused) as failure:
        raise _wrap_parser_failure(path, failure) from failure
    return _prepare_texts(path, answer)


async def read_document_with(parser: IsolatedFunction, path: Path) -> dict[str, str]:
    """Read a document as `read_document` does, with a parser that is kept for the next one.

    Raises:
        FileUnreadable: as `read_document`.
    """
    if path.suffix.lower() not in PARSED_SUFFIXES:
        return await asyncio.to_thread(read_document, path)
    request = await asyncio.to_thread(_build_request, path)
    try:
        answer = await parser.call(**request)
    except (ToolFailed, ToolRefused) as failure:
        raise _wrap_parser_failure(path, failure) from failure
    return _prepare_texts(path, answer)


def is_cut(text: str) -> bool:
    """Return whether a text is only the beginning of its document."""
    return bool(_CUT_MARK_PATTERN.search(text[-_MAX_MARK_CHARS:]))


async def read_documents(
    paths: Sequence[Path], *, on_read: Callable[[], None]
) -> list[dict[str, str] | FileUnreadable]:
    """Read documents as `read_document` does, with a few parsers that are kept for all of them.

    Returns:
        In the place of each that cannot be read its error, which is not raised.
    """
    texts: list[dict[str, str] | FileUnreadable] = [{} for _ in paths]
    left = iter(enumerate(paths))
    async with asyncio.TaskGroup() as readers:
        for _ in range(min(MAX_PARSERS, os.cpu_count() or 1, len(paths))):
            readers.create_task(_read_next_documents(left, texts, on_read))
    return texts


async def _read_next_documents(
    left: Iterable[tuple[int, Path]],
    texts: list[dict[str, str] | FileUnreadable],
    on_read: Callable[[], None],
) -> None:
    """Read documents that no other reader has taken yet."""
    async with open_parser() as parser:
        for number, path in left:
            try:
                texts[number] = await read_document_with(parser, path)
            except FileUnreadable as error:
                texts[number] = error
            on_read()


def _build_request(path: Path) -> dict[str, Any]:
    _check_file(path)
    if not _parsers:
        kind = path.suffix.lower()
        raise _build_unreadable_error(path, f"no extension reads {kind}", "convert it to text")
    return {"path": str(path.resolve()), "suffix": path.suffix.lower(), "max_chars": MAX_TEXT_CHARS}


def _check_file(path: Path) -> None:
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise _build_unreadable_error(path, cause, "check the name and the permissions") from error
    if stat.S_ISDIR(found.st_mode):
        raise _build_unreadable_error(
            path, "it is a folder", "name a file, or set SUPERVISE_DOCUMENTS"
        )
    if not stat.S_ISREG(found.st_mode):
        raise _build_unreadable_error(
            path, "it is not a regular file", "copy its contents into a file"
        )
    if found.st_size > MAX_FILE_BYTES:
        size, limit = found.st_size / 1e6, MAX_FILE_BYTES / 1e6
        raise _build_unreadable_error(path, f"{size:.0f} MB, of at most {limit:.0f}", "split it")


def is_binary(raw: bytes) -> bool:
    """Return whether the content of a file without a parser is no text, by its first bytes."""
    return b"\0" in raw[:8192] and not raw.startswith(UTF_16_MARKS)


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise _build_unreadable_error(
            path, error.strerror or str(error), "check the permissions"
        ) from error
    if is_binary(raw):
        advice = "convert it to text, Markdown, CSV, XLSX, PDF or DOCX"
        raise _build_unreadable_error(path, NOT_TEXT, advice)
    if raw.startswith(UTF_16_MARKS):
        return raw.decode("utf-16", errors="replace")
    return raw.decode("utf-8-sig", errors="replace")


def _prepare_texts(path: Path, answer: Mapping[str, Any]) -> dict[str, str]:
    texts = answer.get("sheets", {"": answer.get("text")}) or {"": ""}
    return {part: _prepare_text(path, text) for part, text in texts.items()}


def _prepare_text(path: Path, text: str) -> str:
    text = sanitize_text(text)
    if not text.strip():
        is_pdf = path.suffix.lower() == ".pdf"
        advice = "add text recognition to a scan" if is_pdf else "see whether it is the right file"
        raise _build_unreadable_error(path, "no text in it", advice)
    if len(text) > MAX_TEXT_CHARS:
        text = text[:MAX_TEXT_CHARS] + CUT_MARK
    return text


def _wrap_parser_failure(path: Path, failure: ToolFailed | ToolRefused) -> FileUnreadable:
    as_what = "CSV" if path.suffix.lower() in WORKBOOK_SUFFIXES else "text"
    return _build_unreadable_error(path, str(failure), f"save it again, or add it as {as_what}")


def _build_unreadable_error(path: Path, cause: str, advice: str) -> FileUnreadable:
    return FileUnreadable(f"cannot read {path.name}", cause=cause, next=advice)
