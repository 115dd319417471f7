"""Searches LangGraph's store in a SQLite file without loading the library.

The library loads NumPy where that is installed, and a run searches before its first model call.
"""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from langgraph.store.base import SearchItem, SearchOp

from graph.stores.sqlite_file import distrust_schema
from nodes.limits.nesting import parse_json

SEARCH_TIMEOUT_S: Final = 5.0
_HAS_STORE_QUERY: Final = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'store'"
_SEARCH_QUERY: Final = """
SELECT prefix, key, value, created_at, updated_at FROM store
WHERE prefix = ? OR substr(prefix, 1, length(?) + 1) = ? || '.'
ORDER BY updated_at DESC LIMIT ? OFFSET ?
"""


async def search_store(path: Path, op: SearchOp) -> list[SearchItem] | None:
    """Return the items of a namespace, the newest first; None for a filter or a query.

    Raises:
        sqlite3.Error: the file cannot be read.
    """
    if op.filter or op.query or not op.namespace_prefix:
        return None
    return await asyncio.to_thread(_read_items, path, op)


def _read_items(path: Path, op: SearchOp) -> list[SearchItem]:
    place = ".".join(op.namespace_prefix)
    address = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=SEARCH_TIMEOUT_S)) as base:
        distrust_schema(base)
        if not base.execute(_HAS_STORE_QUERY).fetchone():
            return []
        rows = base.execute(_SEARCH_QUERY, (place, place, place, op.limit, op.offset)).fetchall()
    return [
        SearchItem(tuple(prefix.split(".")), key, parse_json(value), created_at, updated_at)
        for prefix, key, value, created_at, updated_at in rows
    ]
