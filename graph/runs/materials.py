"""Reads the files that a user names into a request's materials: name to text."""

import asyncio
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, count
from mimetypes import guess_type
from pathlib import Path, PurePath
from time import monotonic
from typing import Any, Final, cast

from graph.chat.attachments import UNREAD_KINDS
from graph.extensions import register_extensions
from graph.runs.event_log import EventListener
from graph.stores.trace_lines import make_event
from graph.teams.front_matter import suggest_name
from graph.topology.input_validation import require_texts
from nodes.errors import DeadlinePassed, FileUnreadable, RequestInvalid
from nodes.planning.request import ATTACHMENTS_KEY, read_request
from nodes.text.counts import format_count
from nodes.text.csv_table import is_table_name
from nodes.text.plain_text import sanitize_name
from nodes.tools.framework.document_kinds import (
    DATABASE_SUFFIXES,
    MATERIAL_SUFFIXES,
    UNLISTED_PREFIXES,
)
from nodes.tools.framework.documents import read_documents
from state import Context, SupervisorState

MAX_TOTAL_BYTES: Final = 5_000_000
MAX_FILES: Final = 200
MAX_NAMED: Final = 5
"""Files of a folder that were passed over for one reason."""
PROGRESS_INTERVAL_S: Final = 0.5
"""Between two events that report how many files are read."""

ReadProgress = Callable[[int, int], None]
"""Called with the number of files read, and the total."""


async def build_input(
    request: str,
    files: str | Path | Sequence[str | Path],
    materials: Mapping[str, str] | None,
    context: Context,
    listener: EventListener | None,
) -> dict[str, Any]:
    """Return the input of a run: the request, and its materials with those read from files.

    Raises:
        RequestInvalid: there is no request, or a value has the wrong type.
        FileUnreadable: a file cannot be read.
        DeadlinePassed: the run's deadline passed before all files were read.
    """
    read, unread = dict[str, str](), dict[str, FileUnreadable]()
    require_texts(request, {} if materials is None else materials)
    if paths := _list_paths(files):
        read = await read_materials(
            paths,
            deadline_s=context.deadline_s,
            on_progress=build_progress_callback(listener) if listener else None,
            on_unread=unread.__setitem__,
        )
        if listener and (left_out := await asyncio.to_thread(_describe_left_out, paths)):
            listener(make_event("not_read", 0.0, files=left_out))
    given: dict[str, Any] = {"request": request, "materials": {**read, **(materials or {})}}
    given["request"] = read_request(cast(SupervisorState, given))
    return given | ({"messages": [_build_message(given["request"], unread)]} if unread else {})


def _build_message(request: str, unread: Mapping[str, FileUnreadable]) -> dict[str, Any]:
    """Return the chat message of a request, which names the files that were not read."""
    records = [{"name": name, "unread": error.cause} for name, error in unread.items()]
    return {"role": "user", "content": request, "additional_kwargs": {ATTACHMENTS_KEY: records}}


def _list_paths(files: str | Path | Iterable[str | Path]) -> list[Path]:
    """Return the paths that a program names: several, or one."""
    try:
        return [Path(file) for file in ([files] if isinstance(files, str | Path) else files)]
    except TypeError:
        cause, example = f"it is {files!r:.40}", 'name them as ["sales.csv"]'
        raise RequestInvalid("files must be paths", cause=cause, next=example) from None


async def read_materials(
    files: Iterable[Path],
    *,
    deadline_s: float | None = None,
    on_progress: ReadProgress | None = None,
    on_unread: Callable[[str, FileUnreadable], None] | None = None,
) -> dict[str, str]:
    """Read files, and the documents directly inside folders; names are made unique.

    Args:
        on_unread: called with the name and the error of a folder's document that cannot be read,
            where another file can; without it the error is raised.

    Raises:
        FileUnreadable: one of them cannot be read, or all together are too large.
        DeadlinePassed: the run's deadline passed before all were read.
    """
    await asyncio.to_thread(register_extensions)  # one of them reads documents
    given = list(files)
    named, read = await asyncio.to_thread(_find_files, given), 0

    def count_file() -> None:
        nonlocal read
        read += 1
        if on_progress:
            on_progress(read, len(named))

    try:
        async with asyncio.timeout(deadline_s):
            texts = await read_documents(list(named.values()), on_read=count_file)
    except TimeoutError:
        raise DeadlinePassed(
            f"the run's deadline passed with {read} of {format_count(len(named), 'file')} read",
            kept="nothing, the run had not begun",
            next="allow more time, name fewer files, or set SUPERVISE_DOCUMENTS to their folder",
        ) from None
    found = dict(zip(named, texts, strict=True))
    unread = {name: each for name, each in found.items() if isinstance(each, FileUnreadable)}
    asked = {path.resolve() for path in given}
    for name, error in unread.items():
        if on_unread is None or named[name] in asked or len(unread) == len(found):
            raise error
        on_unread(name, error)
    return {
        name + part: text
        for name, parts in found.items()
        if not isinstance(parts, FileUnreadable)
        for part, text in parts.items()
    }


def _find_files(files: Iterable[Path]) -> dict[str, Path]:
    """Return the files to read, by their material names."""
    paths = [path for file in files for path in _list_documents(file)]
    if len(paths) > MAX_FILES:
        raise FileUnreadable(
            f"{len(paths)} files, more than the limit of {MAX_FILES}",
            next="set SUPERVISE_DOCUMENTS to their folder, which is searched instead",
        )
    _check_size(paths)
    return _assign_names(paths)


def build_progress_callback(
    listener: Callable[[Mapping[str, object]], None],
    *,
    every_s: float = PROGRESS_INTERVAL_S,
    clock: Callable[[], float] = monotonic,
) -> ReadProgress:
    """Build a callback that periodically sends reading events to a listener; no trace has them.

    After one that says how many are read, the last says that all are.
    """
    sent_s, has_sent = clock(), False

    def report(read: int, of: int) -> None:
        nonlocal sent_s, has_sent
        if clock() - sent_s >= every_s or (has_sent and read == of):
            sent_s, has_sent = clock(), True
            listener(make_event("reading", 0.0, read=read, of=of))

    return report


def _list_documents(path: Path) -> list[Path]:
    kind = _get_mode(path)
    if not stat.S_ISDIR(kind):
        _check_file(path, kind)
        return [path]
    try:
        found = sorted(
            entry for entry in path.iterdir() if not entry.name.startswith(UNLISTED_PREFIXES)
        )
    except OSError as error:
        raise _build_unreadable_error(
            path, error.strerror or str(error), "check the permissions"
        ) from None
    # An empty file, such as the `__init__.py` of a package, would be an empty material.
    documents = [e for e in found if e.is_file() and _is_document(e) and e.stat().st_size]
    if not documents:
        raise _build_unreadable_error(path, "the folder contains no document", _describe_kinds())
    for document in documents:
        _check_link(document, path.resolve())
    return documents


def _describe_left_out(paths: Iterable[Path]) -> str:
    """Return the names of what is passed over in folders, with the reasons."""
    found: dict[str, list[str]] = {}
    for path in chain.from_iterable(sorted(p.iterdir()) for p in paths if p.is_dir()):
        if not path.name.startswith(UNLISTED_PREFIXES) and (why := _explain_left_out(path)):
            found.setdefault(why, []).append(sanitize_name(path.name))
    more = {
        why: f" and {len(names) - MAX_NAMED} more"
        for why, names in found.items()
        if names[MAX_NAMED:]
    }
    return "; ".join(
        f"{', '.join(names[:MAX_NAMED])}{more.get(why, '')} ({why})" for why, names in found.items()
    )


def _explain_left_out(path: Path) -> str:
    """Return why an entry of a folder is no material; empty if it is one."""
    if path.is_dir():
        return "a folder in a folder"
    if not path.is_file():
        return "no file, or a link to none"
    if _is_document(path):
        return "" if path.stat().st_size else "empty"
    kind = (guess_type(path.name)[0] or "").partition("/")[0]
    return (
        f"{UNREAD_KINDS[kind]}s cannot be read"
        if kind in UNREAD_KINDS
        else "a kind of file that is not read"
    )


def _check_link(path: Path, folder: Path) -> None:
    """Refuse a link out of the folder, since an untrusted source may have made it."""
    if not path.is_symlink():
        return
    target = path.resolve()
    parts = target.relative_to(folder).parts if target.is_relative_to(folder) else (".",)
    if any(part.startswith(".") for part in parts) or not _is_document(target):
        raise _build_unreadable_error(
            path,
            f"it is a link to {target}, which is not a document of this folder",
            f"remove the link, or name its target: --file {target}",
        )


def _get_mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        with suppress(OSError, ValueError):
            cause += suggest_name(path.name, os.listdir(path.parent))
        raise _build_unreadable_error(path, cause, "check the name and the permissions") from None


def _check_file(path: Path, kind: int) -> None:
    if path.suffix.lower() in DATABASE_SUFFIXES:
        raise _build_unreadable_error(
            path, "it holds data, not text", f"set SUPERVISE_SQL_URL={path} and leave --file out"
        )
    if not stat.S_ISREG(kind):
        raise _build_unreadable_error(
            path, "it is not a regular file", "copy its contents into a file"
        )
    if not os.access(path, os.R_OK):
        raise _build_unreadable_error(path, "permission denied", "check the permissions")


def _is_document(path: Path) -> bool:
    return path.suffix.lower() in MATERIAL_SUFFIXES


def _check_size(paths: Iterable[Path]) -> None:
    total = 0
    for path in paths:
        total += path.stat().st_size
        if total > MAX_TOTAL_BYTES:
            advice = "set SUPERVISE_DOCUMENTS to their folder, which is searched instead"
            if is_table_name(path.name):
                advice = f"set SUPERVISE_SQL_URL={path} and leave it out of --file"
            raise FileUnreadable(
                f"the files hold more than {MAX_TOTAL_BYTES / 1e6:g} MB, with {path}", next=advice
            )


def _assign_names(paths: Iterable[Path]) -> dict[str, Path]:
    """Name each file by the shortest end of its path that is unique."""
    named: dict[str, Path] = {}
    real = dict.fromkeys(path.resolve() for path in paths)
    for path in real:
        named[next(name for name in _list_candidate_names(path) if name not in named)] = path
    return named


def _list_candidate_names(path: Path) -> Iterator[str]:
    parts = [sanitize_name(part) for part in path.parts if part != path.anchor]
    last = PurePath(parts[-1])
    longer = ("/".join(parts[-number:]) for number in range(1, len(parts) + 1))
    # Numbers distinguish paths that differ only in invisible characters.
    return chain(longer, (str(last.with_stem(f"{last.stem} ({n})")) for n in count(2)))


def _describe_kinds() -> str:
    return f"name files of these kinds: {' '.join(sorted(MATERIAL_SUFFIXES))}"


def _build_unreadable_error(path: Path, cause: str, advice: str) -> FileUnreadable:
    return FileUnreadable(f"cannot read {path}", cause=cause, next=advice)


def add_thread_materials(
    thread: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return an input with the materials of its thread, and the names of those added.

    A new material replaces an earlier one of the same name.

    Args:
        thread: the values of the thread's state.

    Raises:
        RequestInvalid: together they are too large.
    """
    earlier, new = thread.get("materials", {}), given["materials"]
    kept = tuple(name for name in earlier if name not in new)
    joined = {**given, "materials": {**earlier, **new}}
    try:
        read_request(cast(SupervisorState, joined))
    except RequestInvalid as error:
        raise RequestInvalid(
            f"{error.what} with those that the thread keeps",
            cause=error.cause,
            kept=f"the thread, with {', '.join(kept)}",
            next="start a new --thread with only the materials that it needs",
        ) from None
    return joined, kept
