"""The child process that runs SQL; `query_database.py` asks it once and ends it."""

import asyncio
import json
import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Timer
from typing import Any

from nodes.tools.isolation import serve
from nodes.tools.replies import listed
from nodes.tools.sql import sqlite
from nodes.tools.sql.location import Location
from nodes.tools.sql.tables import Table, listing, mentions, result

GRACE_S = 0.1
TOO_LONG = "the statement took too long; filter or aggregate more"
MAX_WRITTEN_BYTES = 100_000_000
"""Materials are put down in a temporary folder of the child's for DuckDB to read."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{engine, target, materials, sql, timeout_s}`; without sql, list the tables."""
    location = Location(request["engine"], request["target"])
    if location.engine == "postgres":
        return _postgres(location, request["sql"], request["timeout_s"])
    run = _sqlite if location.engine == "sqlite" else _duckdb
    return run(location, request["materials"], request["sql"], request["timeout_s"])


def _sqlite(
    location: Location, materials: dict[str, str], sql: str, timeout_s: float
) -> dict[str, Any]:
    known, broken = list[Table](), dict[str, Exception]()
    try:
        base, broken = sqlite.connect(location.target, materials)
        known = sqlite.tables(base, materials)
        if not sql:
            return listing(known)
        with _deadline(timeout_s, known):
            columns, rows = sqlite.query(base, sql, timeout_s)
    except (sqlite3.Error, sqlite3.Warning) as error:
        return _refused(_cause(error, sql, broken), known)
    return result(sql, known, columns, rows)


def _duckdb(
    location: Location, materials: dict[str, str], sql: str, timeout_s: float
) -> dict[str, Any]:
    import duckdb

    from nodes.tools.sql import duck

    known, broken = list[Table](), dict[str, Exception]()
    try:
        with duck.connect(location, materials, "") as (base, broken):
            known = duck.tables(base, location, materials)
        if not sql:
            gaps = [f"Cannot be read as tables: {listed(broken)}"] * bool(broken)
            return listing(known) | ({"gaps": gaps} if gaps else {})
        with duck.connect(location, materials, sql) as (base, broken), _deadline(timeout_s, known):
            columns, rows = duck.query(base, sql)
    except duckdb.Error as error:
        return _refused(_cause(error, sql, broken), known)
    return result(sql, known, columns, rows)


def _postgres(location: Location, sql: str, timeout_s: float) -> dict[str, Any]:
    from nodes.tools.sql import postgres  # the driver loads only where a server is read

    return asyncio.run(postgres.answer(location.target, sql, timeout_s))


@contextmanager
def _deadline(timeout_s: float, known: list[Table]) -> Iterator[None]:
    """End this process when the block takes longer: one long operation heeds no interrupt."""
    timer = Timer(timeout_s + GRACE_S, _give_up, [known])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _give_up(known: list[Table]) -> None:
    assert sys.__stdout__ is not None
    told = {"error": TOO_LONG, "failed": True, **listing(known)}
    print(json.dumps(told), file=sys.__stdout__, flush=True)
    os._exit(0)


def _cause(error: Exception, sql: str, broken: Mapping[str, Exception]) -> Exception:
    """Return what is wrong with a file that the statement names, if that is why it failed."""
    return next((broken[table] for table in broken if mentions(sql, table)), error)


def _refused(error: Exception, known: list[Table]) -> dict[str, Any]:
    message = " ".join(str(error).split("\n\nLINE", 1)[0].split())
    if message == "interrupted":
        return {"error": TOO_LONG, "failed": True, **listing(known)}
    if any(word in message for word in ("authoriz", "prohibited", "read-only mode")):
        message = f"{message}: the database is read only; only SELECT on its tables is allowed"
    return {"error": message.rstrip("."), **listing(known)}


if __name__ == "__main__":
    serve(answer, max_written_bytes=MAX_WRITTEN_BYTES)
