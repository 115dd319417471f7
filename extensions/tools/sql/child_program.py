"""The child process that runs SQL; `query_database.py` sends it one request and ends it."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Timer
from types import ModuleType
from typing import Any

from extensions.tools.sql import sqlite
from extensions.tools.sql.location import DatabaseLocation, Engine
from extensions.tools.sql.tables import (
    LoadedTables,
    SqlTable,
    describe_result,
    describe_tables,
    mentions,
    name_tables,
)
from nodes.text.plain_text import sanitize_line

GRACE_S = 0.1
MAX_SMALL_CHARS = 1_000_000
MAX_ERROR_CHARS = 300
"""An engine's message may quote a whole line of a file."""
TIMEOUT_MESSAGE = "the statement took too long; filter or aggregate more"


def run_statement(
    engine: Engine, target: str, materials: dict[str, str], sql: str, statement_s: float
) -> dict[str, Any]:
    """Return a statement's rows; without one, the tables."""
    with ExitStack() as opened:
        return Statements(engine, target, materials, statement_s, opened).run(sql)


class Statements:
    """Runs several statements on the same tables, each of which is loaded only once."""

    def __init__(
        self,
        engine: Engine,
        target: str,
        materials: dict[str, str],
        statement_s: float,
        opened: ExitStack,
    ) -> None:
        """Keep what to run on.

        Args:
            opened: closes what is opened here.
        """
        self._location, self._materials = DatabaseLocation(engine, target), materials
        self._statement_s, self._opened = statement_s, opened
        self._bases = dict[tuple[str, ...], Any]()
        self._known: list[SqlTable] | None = None
        self._all = tuple[str, ...]()
        """The tables of a database that holds all of them."""

    def run(self, sql: str) -> dict[str, Any]:
        """Return a statement's rows; without one, the tables."""
        if self._location.engine == "postgres":
            from extensions.tools.sql import postgres  # the driver loads only if a server is read

            return asyncio.run(postgres.answer_query(self._location.target, sql, self._statement_s))
        if self._location.engine == "sqlite":
            return self._query(sqlite, sql)
        from extensions.tools.sql import duckdb_reader

        return self._query(duckdb_reader, sql)

    def _query(self, reader: ModuleType, sql: str) -> dict[str, Any]:
        known, loaded = self._known or [], LoadedTables()
        try:
            if self._known is None and self._are_small():
                self._load_all(reader)
            if self._known is None or not (sql or self._all):
                with reader.connect(self._location, self._materials, "") as (base, loaded):
                    self._known = reader.list_tables(base, self._location, self._materials)
            known = self._known
            if not sql:
                return _describe_tables(known, loaded)
            used = self._all or tuple(table.name for table in known if mentions(sql, table.name))
            if used not in self._bases:
                self._bases[used] = self._opened.enter_context(
                    reader.connect(self._location, self._materials, sql)
                )
            base, loaded = self._bases[used]
            with _enforce_deadline(self._statement_s, known):
                columns, rows = reader.run_query(base, sql, self._statement_s)
        except reader.ERRORS as error:
            broken = loaded.broken
            causes = (broken[table] for table in broken if mentions(sql, table))
            return _build_error(next(causes, error), known)
        gaps = loaded.list_notes(sql)
        return describe_result(sql, known, columns, rows) | ({"gaps": gaps} if gaps else {})

    def _are_small(self) -> bool:
        """Return whether all tables may be loaded at once: a database takes longer to open."""
        chars = sum(map(len, self._materials.values()))
        return self._location.engine == "none" and chars <= MAX_SMALL_CHARS

    def _load_all(self, reader: ModuleType) -> None:
        """Load all tables into one database, unless one cannot be read."""
        every = " ".join(name_tables(self._materials))
        opened = reader.connect(self._location, self._materials, every)
        base, loaded = self._opened.enter_context(opened)
        known: list[SqlTable] = reader.list_tables(base, self._location, self._materials)
        if known and not loaded.broken:
            self._known, self._all = known, tuple(table.name for table in known)
            self._bases[self._all] = base, loaded


@contextmanager
def _enforce_deadline(timeout_s: float, known: list[SqlTable]) -> Iterator[None]:
    """End this process when the block takes longer: one long operation ignores an interrupt."""
    timer = Timer(timeout_s + GRACE_S, _exit_at_deadline, [known])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _exit_at_deadline(known: list[SqlTable]) -> None:
    assert sys.__stdout__ is not None
    told = {"error": TIMEOUT_MESSAGE, "failed": True, **describe_tables(known)}
    print(json.dumps({"result": told}), file=sys.__stdout__, flush=True)
    os._exit(0)


def _describe_tables(known: list[SqlTable], loaded: LoadedTables) -> dict[str, Any]:
    """Return the tables, and as gaps the files that are none, each with its reason."""
    gaps = [
        f"Not read as a table: {sanitize_line(str(error), MAX_ERROR_CHARS)}"
        for error in loaded.broken.values()
    ]
    return describe_tables(known) | ({"gaps": gaps} if gaps else {})


def _build_error(error: Exception, known: list[SqlTable]) -> dict[str, Any]:
    message = sanitize_line(str(error).split("\n\nLINE", 1)[0], MAX_ERROR_CHARS)
    if message == "interrupted":
        return {"error": TIMEOUT_MESSAGE, "failed": True, **describe_tables(known)}
    if any(word in message for word in ("authoriz", "prohibited", "read-only mode")):
        message = f"{message}: the database is read only; only SELECT on its tables is allowed"
    return {"error": message.rstrip("."), **describe_tables(known)}
