"""Describes a PostgreSQL database without changing it."""

import asyncio

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from extensions.postgres.retries import START_RETRY_TIMEOUT_S, is_brief_outage, retry_operation
from extensions.postgres.schema import is_schema_ready
from extensions.postgres.session import open_connection

_STATUS_QUERY = """
SELECT current_setting('server_version') AS version, current_schema() AS schema,
    coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes
FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
    AND relkind = 'r' AND (relname LIKE 'checkpoint%' OR relname = 'store')
"""


def describe_database(url: str) -> str:
    """Return the server's version, the schema and its size.

    Raises:
        StoreError: runs cannot be stored there.
    """

    async def see() -> str:
        async with await open_connection(url) as connection:
            return await _describe_tables(connection)

    return asyncio.run(
        retry_operation(see, url=url, patience_s=START_RETRY_TIMEOUT_S, worth=is_brief_outage)
    )


async def _describe_tables(connection: AsyncConnection[DictRow]) -> str:
    is_made = await is_schema_ready(connection)
    row = await (await connection.execute(_STATUS_QUERY)).fetchone()
    assert row is not None, "an aggregate returns one row"
    size = f"{row['bytes'] / 1e6:.1f} MB" if is_made else "tables are created by the first run"
    return f"PostgreSQL {row['version']}, schema {row['schema']} ({size})"
