"""PostgreSQL, one reading statement per connection, in the child process: a row may be huge.

Within its connection a statement could switch limits off; there is no second statement to gain
from it. What may be read is for the role of the connection to say.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from nodes.errors import ToolRefused
from nodes.tools.sql.tables import MAX_ROWS, Table, listing, result

CONNECT_TIMEOUT_S = 5
_TABLES = """\
SELECT table_schema, table_name, array_agg(column_name::text ORDER BY ordinal_position)
FROM information_schema.columns
WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
GROUP BY table_schema, table_name ORDER BY table_schema, table_name"""


async def answer(url: str, sql: str, timeout_s: float) -> dict[str, Any]:
    """Run a statement, or list the tables without one; what goes wrong is told as `error`."""
    known: list[Table] = []
    try:
        known = await _tables(url)
        if not sql:
            return listing(known)
        columns, rows = await _run(url, sql, timeout_s=timeout_s, max_rows=MAX_ROWS + 1)
    except ToolRefused as refusal:
        return {"error": str(refusal), **listing(known)}
    except TimeoutError:
        return {"error": "the statement took too long", **listing(known)}
    except psycopg.Error as error:
        return {"error": str(error).partition("\n")[0], **listing(known)}
    return result(sql, known, columns, rows)


async def _tables(url: str) -> list[Table]:
    """List the tables and views that the role may see."""
    found = await _run(url, _TABLES, timeout_s=5.0, max_rows=10_000)
    rows: list[Any] = list(found[1])  # two names and an array, as the statement says
    return [
        Table(shown, tuple(columns), shown)
        for schema, name, columns in rows
        for shown in [name if schema == "public" else f"{schema}.{name}"]
    ]


async def _run(
    url: str, sql: str, *, timeout_s: float, max_rows: int
) -> tuple[list[str], list[Sequence[object]]]:
    limit_ms = int(timeout_s * 1000)
    limits = f"-c default_transaction_read_only=on -c statement_timeout={limit_ms}"
    try:
        # What the address itself sets stays, such as a search path; of two the later counts.
        options = f"{conninfo_to_dict(url).get('options') or ''} {limits}"
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            connection = await psycopg.AsyncConnection.connect(url, options=options)
    except (psycopg.Error, TimeoutError) as error:
        # The driver's message may repeat the URL, and with it the password.
        raise ToolRefused(
            f"the database server cannot be reached ({type(error).__name__}); work from the "
            "artifacts of your handoff, or report what is missing"
        ) from None
    async with connection:
        await connection.set_read_only(True)
        await _give_up_powers(connection)
        async with asyncio.timeout(timeout_s + 1):
            # A named cursor is declared by the extended protocol: one SELECT and nothing else.
            async with connection.cursor(name="reading") as cursor:
                await cursor.execute(sql.rstrip().rstrip(";").encode())
                rows: list[Sequence[object]] = list(await cursor.fetchmany(max_rows))
                columns = [column.name for column in cursor.description or ()]
        await connection.rollback()
    return columns, rows


async def _give_up_powers(connection: Any) -> None:
    """Leave a superuser only the reading of tables, for this transaction."""
    found = await connection.execute("SELECT current_setting('is_superuser')")
    if (await found.fetchone())[0] == "on":
        await connection.execute("SET LOCAL ROLE pg_read_all_data")
