"""What runs have left in memory, in a file, in a folder or in a database, in bytes."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver


def count_saver_bytes(saver: InMemorySaver) -> int:
    """Count the serialized bytes that the memory saver holds."""
    return sum(map(_count_bytes, (saver.storage, saver.writes, saver.blobs)))


def count_file_bytes(path: Path) -> int:
    """Count the bytes of the pages in use of a SQLite file, of its write-ahead log too."""
    with closing(sqlite3.connect(path)) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)


def count_schema_bytes(url: str) -> int:
    """Count the bytes of the tables and indexes of an address's schema in PostgreSQL."""
    from tests.postgres_server import run_query  # its libraries are an extra

    [(found,)] = run_query(
        url,
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class"
        " WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'",
    )
    return int(found)


def _count_bytes(value: Any) -> int:
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_count_bytes, value.values()))
    return sum(map(_count_bytes, value)) if isinstance(value, tuple) else 0
