"""The documents a worker may read: the user's folder and the run's materials, parsed once."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from weakref import WeakKeyDictionary

from nodes.errors import FileUnreadable, ToolRefused
from nodes.text.plain_text import sanitize_text
from nodes.tools.documents.folder import SkippedFile, StoredDocument, list_documents
from nodes.tools.documents.index import PassageIndex
from nodes.tools.documents.passages import split_document
from nodes.tools.documents.reader import PARSE_TIMEOUT_S, PARSER, read_document_with
from nodes.tools.framework.isolation import IsolatedFunction

MAX_INDEXES = 4
MAX_LIBRARY_CHARS = 200_000_000


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
        self._indexes: OrderedDict[tuple[object, ...], PassageIndex] = OrderedDict()
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
        given = [Document(name, sanitize_text(text)) for name, text in (materials or {}).items()]
        if self._root is None:
            return given, []
        # One reader at a time: workers that start together would parse every file twice.
        async with self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            stored, skipped = await asyncio.to_thread(_list_folder, self._root)
            await self._refresh_documents(stored)
            known = dict(self._documents_by_file)
        found = [known[item] for item in stored]
        taken = {document.name for document in given}
        readable = [each for item in found if isinstance(item, list) for each in item]
        unread = [item for item in found if isinstance(item, SkippedFile)]
        return given + [item for item in readable if item.name not in taken], unread + skipped

    async def get_index(
        self, materials: Mapping[str, str] | None
    ) -> tuple[PassageIndex, list[SkippedFile], int]:
        """Return an index over every document, what was skipped, and how many were read.

        Raises:
            ToolRefused: the folder is set but missing.
        """
        documents, skipped = await self.load_documents(materials)
        key = tuple(documents)
        index = self._indexes.get(key)
        if index is None:
            index = await asyncio.to_thread(_build_index, documents)
            self._indexes[key] = index
            while len(self._indexes) > MAX_INDEXES:
                self._indexes.popitem(last=False)
        return index, skipped, len(documents)

    async def _refresh_documents(self, stored: list[StoredDocument]) -> None:
        for gone in self._documents_by_file.keys() - set(stored):
            del self._documents_by_file[gone]
        size = sum(map(_count_chars, self._documents_by_file.values()))
        async with IsolatedFunction(PARSER, timeout_s=PARSE_TIMEOUT_S) as parser:
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
            "handoff, or report that the setting SUPERVISE_DOCUMENTS must name a folder"
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


def _build_index(documents: list[Document]) -> PassageIndex:
    return PassageIndex(
        passage
        for document in documents
        for passage in split_document(document.name, document.text)
    )
