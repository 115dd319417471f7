"""What a worker may read: the user's folder and the run's materials, parsed once per process."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from weakref import WeakKeyDictionary

from nodes.errors import FileUnreadable, ToolRefused
from nodes.tools.documents.folder import Skipped, Stored, stored_documents
from nodes.tools.documents.index import PassageIndex
from nodes.tools.documents.passages import split
from nodes.tools.documents.read import PARSE_TIMEOUT_S, PARSER, read_with
from nodes.tools.isolation import Isolated
from nodes.tools.plain_text import plain

MAX_INDEXES = 4
MAX_LIBRARY_CHARS = 200_000_000


@dataclass(frozen=True)
class Document:
    """A name that can be cited, and the text it stands for."""

    name: str
    text: str


class Library:
    """Reads the folder's documents, and reads again those that changed."""

    def __init__(self, root: Path | None) -> None:
        self._root = root.resolve() if root else None
        self._read: dict[Stored, Document | Skipped] = {}
        self._indexes: OrderedDict[tuple[object, ...], PassageIndex] = OrderedDict()
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    async def documents(
        self, materials: Mapping[str, str] | None
    ) -> tuple[list[Document], list[Skipped]]:
        """Give every document that can be read, the run's materials first; and what cannot.

        Raises:
            ToolRefused: the folder is set but missing.
        """
        given = [Document(name, plain(text)) for name, text in (materials or {}).items()]
        if self._root is None:
            return given, []
        # One reading at a time: workers that start together would parse every file twice.
        async with self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            stored, skipped = await asyncio.to_thread(_listing, self._root)
            await self._refresh(stored)
            known = dict(self._read)
        found = [known[item] for item in stored]
        taken = {document.name for document in given}
        readable = [item for item in found if isinstance(item, Document)]
        unread = [item for item in found if isinstance(item, Skipped)]
        return given + [item for item in readable if item.name not in taken], unread + skipped

    async def index(
        self, materials: Mapping[str, str] | None
    ) -> tuple[PassageIndex, list[Skipped], int]:
        """Give an index over every document, what was skipped, and how many were read.

        Raises:
            ToolRefused: the folder is set but missing.
        """
        documents, skipped = await self.documents(materials)
        key = tuple(documents)
        index = self._indexes.get(key)
        if index is None:
            index = await asyncio.to_thread(_index, documents)
            self._indexes[key] = index
            while len(self._indexes) > MAX_INDEXES:
                self._indexes.popitem(last=False)
        return index, skipped, len(documents)

    async def _refresh(self, stored: list[Stored]) -> None:
        for gone in self._read.keys() - set(stored):
            del self._read[gone]
        size = sum(len(item.text) for item in self._read.values() if isinstance(item, Document))
        async with Isolated(PARSER, timeout_s=PARSE_TIMEOUT_S) as parser:
            for item in stored:
                if item in self._read:
                    continue
                if size > MAX_LIBRARY_CHARS:
                    self._read[item] = Skipped(item.name, "the folder holds too much text")
                    continue
                self._read[item] = await _read(parser, item)
                size += len(getattr(self._read[item], "text", ""))


@lru_cache(maxsize=8)
def library_of(root: Path | None) -> Library:
    """Give the process's one library of a folder, so that nothing is parsed for each tool."""
    return Library(root)


def _listing(root: Path) -> tuple[list[Stored], list[Skipped]]:
    if not root.is_dir():
        raise ToolRefused(
            f"the documents folder {root.name!r} does not exist; work from the artifacts of your "
            "handoff, or report that the setting SUPERVISE_DOCUMENTS must name a folder"
        )
    return stored_documents(root)


async def _read(parser: Isolated, item: Stored) -> Document | Skipped:
    try:
        return Document(item.name, await read_with(parser, item.path))
    except FileUnreadable as error:
        return Skipped(item.name, error.cause)


def _index(documents: list[Document]) -> PassageIndex:
    return PassageIndex(
        passage for document in documents for passage in split(document.name, document.text)
    )
