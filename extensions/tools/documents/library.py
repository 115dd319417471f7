"""The documents a worker may read: the user's folder and the run's materials, parsed once."""

import asyncio
import os
import stat
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from weakref import WeakKeyDictionary

from extensions.tools.documents.index import PassageIndex
from extensions.tools.documents.kept_index import compute_index_key, read_index, save_index
from extensions.tools.documents.passages import Passage, split_document
from nodes.errors import FileUnreadable, ToolRefused
from nodes.text.plain_text import sanitize_text
from nodes.tools.framework.document_kinds import READABLE_SUFFIXES, UNLISTED_PREFIXES
from nodes.tools.framework.documents import is_cut, open_parser, read_document_with
from nodes.tools.framework.isolation import IsolatedFunction
from nodes.tools.framework.tool_report import join_names

MAX_DOCUMENTS = 2000


@dataclass(frozen=True)
class StoredDocument:
    """A document of the folder, and what shows that it has changed."""

    name: str
    """Relative to the folder, with forward slashes."""
    path: Path
    mtime_ns: int
    size: int


@dataclass(frozen=True)
class SkippedFile:
    """A file that is not read, and why."""

    source: str
    reason: str
    is_document: bool = True
    """Whether it would be searched if it could be read; false for a picture or a link."""


def describe_unread(skipped: Sequence[SkippedFile]) -> str:
    """Return the documents that could not be read, with reasons; empty if all could."""
    return join_names(f"{item.source} ({item.reason})" for item in skipped if item.is_document)


def list_documents(root: Path) -> tuple[list[StoredDocument], list[SkippedFile]]:
    """Return the folder's documents by name, except hidden files; and what is not read."""
    stored, skipped = list[StoredDocument](), list[SkippedFile]()
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(UNLISTED_PREFIXES)):
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            found = path.lstat()
            if reason := _find_skip_reason(path, found):
                skipped.append(SkippedFile(relative, reason, is_document=False))
            elif len(stored) == MAX_DOCUMENTS:
                skipped.append(SkippedFile(relative, f"more than {MAX_DOCUMENTS} documents"))
            else:
                stored.append(StoredDocument(relative, path, found.st_mtime_ns, found.st_size))
    return stored, skipped


def _find_skip_reason(path: Path, found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return "a link, which is not followed"
    if not stat.S_ISREG(found.st_mode):
        return "not a regular file"
    if path.suffix.lower() not in READABLE_SUFFIXES:
        return f"a kind of file that is not read: {path.suffix or 'no suffix'}"
    return ""


MAX_INDEXES = 4
MAX_LIBRARY_CHARS = 200_000_000
CUT_REASON = "its end: only the beginning of a long document is read"


@dataclass(frozen=True)
class Document:
    """A name that can be cited, and its text."""

    name: str
    text: str


class DocumentLibrary:
    """Reads the folder's documents, and reads changed ones again."""

    def __init__(self, root: Path | None) -> None:
        self._root = root.resolve() if root else None
        self._documents_by_file: dict[StoredDocument, list[Document] | SkippedFile] = {}
        self._passages = dict[Document, tuple[Passage, ...]]()
        self._base: tuple[tuple[Document, ...], PassageIndex] = ((), PassageIndex(()))
        self._indexes: OrderedDict[tuple[Document, ...], PassageIndex] = OrderedDict()
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    async def load_documents(
        self, materials: Mapping[str, str] | None
    ) -> tuple[list[Document], list[SkippedFile]]:
        """Return every readable document, the run's materials first; and what cannot be read.

        Raises:
            ToolRefused: the folder is set but missing.
        """
        given, stored, skipped = await self._load(materials)
        taken = {document.name for document in given}
        return given + [each for each in stored if each.name not in taken], skipped

    async def get_index(
        self, materials: Mapping[str, str] | None
    ) -> tuple[PassageIndex, list[SkippedFile], int]:
        """Return an index over every document, what was skipped, and how many were read.

        The folder is indexed once for all runs, and again when it changes.

        Raises:
            ToolRefused: the folder is set but missing.
        """
        given, stored, skipped = await self._load(materials)
        async with self._get_lock():
            if self._base[0] != tuple(stored):
                self._base = await asyncio.to_thread(self._index_folder, stored)
                self._indexes.clear()
            index = self._indexes.get(tuple(given)) if given else self._base[1]
            if index is None:
                index = await asyncio.to_thread(_index_materials, given, self._base[1])
                self._indexes[tuple(given)] = index
                while len(self._indexes) > MAX_INDEXES:
                    self._indexes.popitem(last=False)
        names = {each.name for each in given}
        return index, skipped, len(given) + sum(each.name not in names for each in stored)

    async def _load(
        self, materials: Mapping[str, str] | None
    ) -> tuple[list[Document], list[Document], list[SkippedFile]]:
        """Return the run's materials, the folder's documents, and what cannot be read."""
        given = [Document(name, sanitize_text(text)) for name, text in (materials or {}).items()]
        if self._root is None:
            return given, [], []
        # One reader at a time: workers that start together would parse every file twice.
        async with self._get_lock():
            stored, skipped = await asyncio.to_thread(_list_folder, self._root)
            await self._refresh_documents(stored)
            found = [self._documents_by_file[item] for item in stored]
        readable = [each for item in found if isinstance(item, list) for each in item]
        unread = [item for item in found if isinstance(item, SkippedFile)]
        cut = [SkippedFile(item.name, CUT_REASON) for item in readable if is_cut(item.text)]
        return given, readable, [*unread, *cut, *skipped]

    def _get_lock(self) -> asyncio.Lock:
        return self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    def _index_folder(self, stored: list[Document]) -> tuple[tuple[Document, ...], PassageIndex]:
        key = compute_index_key(self._root or Path(), [(each.name, each.text) for each in stored])
        if kept := read_index(key):
            return tuple(stored), kept
        known = self._passages
        self._passages = {
            each: known[each] if each in known else split_document(each.name, each.text)
            for each in stored
        }
        index = PassageIndex(chain.from_iterable(self._passages.values()))
        save_index(key, index, sum(len(each.text) for each in stored))
        return tuple(stored), index

    async def _refresh_documents(self, stored: list[StoredDocument]) -> None:
        for gone in self._documents_by_file.keys() - set(stored):
            del self._documents_by_file[gone]
        size = sum(map(_count_chars, self._documents_by_file.values()))
        async with open_parser() as parser:
            for item in stored:
                if item not in self._documents_by_file:
                    is_full = size > MAX_LIBRARY_CHARS
                    read = await _read_stored(parser, item, is_full=is_full)
                    self._documents_by_file[item] = read
                    size += _count_chars(read)


@lru_cache(maxsize=8)
def get_library(root: Path | None) -> DocumentLibrary:
    """Return the process's one library of a folder, so that not every tool parses it again."""
    return DocumentLibrary(root)


def _list_folder(root: Path) -> tuple[list[StoredDocument], list[SkippedFile]]:
    if not root.is_dir():
        raise ToolRefused(
            f"the documents folder {root.name!r} does not exist; work from the files of your "
            "handoff, or report that another must be named (setting: SUPERVISE_DOCUMENTS)"
        )
    return list_documents(root)


async def _read_stored(
    parser: IsolatedFunction, item: StoredDocument, *, is_full: bool
) -> list[Document] | SkippedFile:
    if is_full:
        return SkippedFile(item.name, "the folder holds too much text")
    try:
        texts = await read_document_with(parser, item.path)
        return [Document(item.name + part, text) for part, text in texts.items()]
    except FileUnreadable as error:
        return SkippedFile(item.name, error.cause)


def _count_chars(read: list[Document] | SkippedFile) -> int:
    return sum(len(each.text) for each in read) if isinstance(read, list) else 0


def _index_materials(given: list[Document], base: PassageIndex) -> PassageIndex:
    passages = chain.from_iterable(split_document(each.name, each.text) for each in given)
    return PassageIndex(passages, base, frozenset(each.name for each in given))
