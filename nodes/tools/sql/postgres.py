"""PostgreSQL, one reading statement per connection.

Within its connection a statement could switch limits off; there is no second statement to gain
from it. What may be read is for the role of the connection to say.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from nodes.errors import ToolRefused
from nodes.tools.sql.tables import MAX_ROWS, Table

CONNECT_TIMEOUT_S = 5
_TABLES = """\
SELECT table_schema, table_name, array_agg(column_name::text ORDER BY ordinal_position)
FROM information_schema.columns
WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
GROUP BY table_schema, table_name ORDER BY table_schema, table_name"""


async def tables(url: str) -> list[Table]:
    """List the tables and views that the role may see.

    Raises:
        ToolRefused: the server cannot be reached.
    """
    found = await _run(url, _TABLES, timeout_s=5.0, max_rows=10_000)
    rows: list[Any] = list(found[1])  # two names and an array, as the statement says
    return [
        Table(shown, tuple(columns), shown)
        for schema, name, columns in rows
        for shown in [name if schema == "public" else f"{schema}.{name}"]
    ]


async def query(url: str, sql: str, timeout_s: float) -> tuple[list[str], list[Sequence[object]]]:
    """Run one reading statement; gives at most one row more than is shown.

    Raises:
        ToolRefused: the server cannot be reached.
        psycopg.Error: not one reading statement, wrong, or out of time.
    """
    return await _run(url, sql, timeout_s=timeout_s, max_rows=MAX_ROWS + 1)


async def _run(
    url: str, sql: str, *, timeout_s: float, max_rows: int
) -> tuple[list[str], list[Sequence[object]]]:
    import psycopg  # the driver loads only where a server is read

    limit_ms = int(timeout_s * 1000)
    options = f"-c default_transaction_read_only=on -c statement_timeout={limit_ms}"
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            connection = await psycopg.AsyncConnection.connect(url, options=options)
    except (psycopg.OperationalError, TimeoutError) as error:
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
