"""PostgreSQL, one reading statement per connection, in the child process: a row may be huge.

Three things hold, each by itself: the role can only read (`postgres_role.py`), the transaction
is read only and never ends in a commit, and what the statement calls only computes
(`postgres_calls.py`). Which tables may be read is for the role of the connection to say.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.sql.postgres_calls import refuse_calls
from nodes.tools.sql.postgres_role import AddressRefused, refuse_powers
from nodes.tools.sql.tables import MAX_ROWS, Table, listing, result

CONNECT_TIMEOUT_S = 5
CATALOGUE_TIMEOUT_S = 5
_TABLES = """\
SELECT table_schema, table_name, array_agg(column_name::text ORDER BY ordinal_position)
FROM information_schema.columns
WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
GROUP BY table_schema, table_name ORDER BY table_schema, table_name LIMIT 10000"""

Connection = psycopg.AsyncConnection[tuple[Any, ...]]


async def answer(url: str, sql: str, timeout_s: float) -> dict[str, Any]:
    """Run a statement, or list the tables without one; what goes wrong is told as `error`."""
    known: list[Table] = []
    try:
        async with _connection(url) as connection:
            await refuse_powers(connection)
            known = await _tables(connection)
            if not sql:
                return listing(known)
            await refuse_calls(connection, sql)
            columns, rows = await _run(connection, sql, timeout_s)
    except AddressRefused as refusal:
        return {"error": refusal.what, "fix": refusal.fix, **listing([])}
    except ToolRefused as refusal:
        return {"error": str(refusal), **listing(known)}
    except ToolFailed as failure:
        return {"error": str(failure), "failed": True, **listing(known)}
    except (TimeoutError, psycopg.errors.QueryCanceled):
        return {"error": "the statement took too long", "failed": True, **listing(known)}
    except (psycopg.Error, UnicodeError) as error:
        return {"error": str(error).partition("\n")[0], **listing(known)}
    return result(sql, known, columns, rows)


@asynccontextmanager
async def _connection(url: str) -> AsyncIterator[Connection]:
    """Connect for one transaction that may only read; closing it rolls everything back."""
    limits = f"-c default_transaction_read_only=on -c statement_timeout={CATALOGUE_TIMEOUT_S}s"
    try:
        # What the address itself sets stays, such as a search path; of two the later counts.
        options = f"{conninfo_to_dict(url).get('options') or ''} {limits}"
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            connection = await psycopg.AsyncConnection.connect(
                url, options=options, client_encoding="UTF8"
            )
    except (psycopg.Error, TimeoutError) as error:
        # The driver's message may repeat the URL, and with it the password.
        raise ToolFailed(
            f"the database server cannot be reached ({type(error).__name__}); work from the "
            "artifacts of your handoff, or report what is missing"
        ) from None
    try:
        await connection.set_read_only(True)
        yield connection
    finally:
        await connection.close()


async def _tables(connection: Connection) -> list[Table]:
    """List the tables and views that the role may see."""
    rows = await (await connection.execute(_TABLES)).fetchall()
    return [
        Table(shown, tuple(columns), shown)
        for schema, name, columns in rows
        for shown in [name if schema == "public" else f"{schema}.{name}"]
    ]


async def _run(
    connection: Connection, sql: str, timeout_s: float
) -> tuple[list[str], list[Sequence[object]]]:
    await connection.execute(f"SET LOCAL statement_timeout = {int(timeout_s * 1000)}".encode())
    async with asyncio.timeout(timeout_s + 1):
        # A named cursor is declared by the extended protocol: one SELECT and nothing else.
        async with connection.cursor(name="reading") as cursor:
            await cursor.execute(sql.rstrip().rstrip(";").encode())
            rows: list[Sequence[object]] = list(await cursor.fetchmany(MAX_ROWS + 1))
            return [column.name for column in cursor.description or ()], rows
