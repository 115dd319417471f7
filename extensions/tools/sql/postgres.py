"""Query PostgreSQL, one reading statement per connection, in the child process: a row may be huge.

Three safeguards are independent of each other: the role can only read (`postgres_role.py`), the
transaction is read only and never commits, and the functions that the statement calls only compute
(`postgres_calls.py`). Which tables may be read is decided by the role of the connection."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from extensions.tools.sql.postgres_calls import refuse_unsafe_functions
from extensions.tools.sql.tables import MAX_ROWS, SqlTable, describe_result, describe_tables
from nodes.errors import ToolFailed, ToolRefused

CONNECT_TIMEOUT_S = 5
CATALOGUE_TIMEOUT_S = 5
_LIST_TABLES_SQL = """\
SELECT table_schema, table_name, array_agg(column_name::text ORDER BY ordinal_position)
FROM information_schema.columns
WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
GROUP BY table_schema, table_name ORDER BY table_schema, table_name LIMIT 10000"""

Connection = psycopg.AsyncConnection[tuple[Any, ...]]


async def answer_query(url: str, sql: str, timeout_s: float) -> dict[str, Any]:
    """Run a statement, or list the tables without one; a failure is returned as `error`."""
    known: list[SqlTable] = []
    try:
        async with _open_connection(url) as connection:
            await refuse_privileged_role(connection)
            known = await _list_tables(connection)
            if not sql:
                return describe_tables(known)
            await refuse_unsafe_functions(connection, sql)
            columns, rows = await _run_statement(connection, sql, timeout_s)
    except RoleRefused as refusal:
        return {"error": refusal.reason, "fix": refusal.fix, **describe_tables([])}
    except ToolRefused as refusal:
        return {"error": str(refusal), **describe_tables(known)}
    except ToolFailed as failure:
        return {"error": str(failure), "failed": True, **describe_tables(known)}
    except (TimeoutError, psycopg.errors.QueryCanceled):
        return {"error": "the statement took too long", "failed": True, **describe_tables(known)}
    except (psycopg.Error, UnicodeError) as error:
        return {"error": str(error).partition("\n")[0], **describe_tables(known)}
    return describe_result(sql, known, columns, rows)


@asynccontextmanager
async def _open_connection(url: str) -> AsyncIterator[Connection]:
    """Connect for one transaction that may only read; closing it rolls everything back."""
    limits = f"-c default_transaction_read_only=on -c statement_timeout={CATALOGUE_TIMEOUT_S}s"
    try:
        # Settings in the URL itself stay, such as a search path; of two the later counts.
        options = f"{conninfo_to_dict(url).get('options') or ''} {limits}"
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            connection = await psycopg.AsyncConnection.connect(
                url, options=options, client_encoding="UTF8"
            )
    except (psycopg.Error, TimeoutError) as error:
        # The driver's message may repeat the URL, and with it the password.
        raise ToolFailed(
            f"the database server cannot be reached ({type(error).__name__}); work from the "
            "files of your handoff, or report what is missing"
        ) from None
    try:
        await connection.set_read_only(True)
        yield connection
    finally:
        await connection.close()


async def _list_tables(connection: Connection) -> list[SqlTable]:
    """Return the tables and views that the role may see."""
    rows = await (await connection.execute(_LIST_TABLES_SQL)).fetchall()
    return [
        SqlTable(shown, tuple(columns), shown)
        for schema, name, columns in rows
        for shown in [name if schema == "public" else f"{schema}.{name}"]
    ]


async def _run_statement(
    connection: Connection, sql: str, timeout_s: float
) -> tuple[list[str], list[Sequence[object]]]:
    await connection.execute(f"SET LOCAL statement_timeout = {int(timeout_s * 1000)}".encode())
    async with asyncio.timeout(timeout_s + 1):
        # A named cursor is declared by the extended protocol: one SELECT and nothing else.
        async with connection.cursor(name="reading") as cursor:
            await cursor.execute(sql.rstrip().rstrip(";").encode())
            rows: list[Sequence[object]] = list(await cursor.fetchmany(MAX_ROWS + 1))
            return [column.name for column in cursor.description or ()], rows


_PRIVILEGED_ROLE_SQL: Final = r"""
WITH signed_in AS (
    SELECT oid FROM pg_roles WHERE rolname IN (session_user, current_user)
    UNION SELECT usesysid FROM pg_stat_activity WHERE pid = pg_backend_pid()
)
SELECT session_user::text, role.rolname::text, CASE
        WHEN role.rolsuper THEN 'a superuser of the server'
        WHEN role.rolname LIKE 'pg\_%' THEN 'a role with powers over the server'
        WHEN role.rolreplication THEN 'a role that may replicate the server'
        WHEN role.rolcreaterole THEN 'a role that may grant itself others'
        ELSE 'a role that may read the hashes of passwords' END
FROM signed_in JOIN pg_roles AS role ON pg_has_role(signed_in.oid, role.oid, 'MEMBER')
WHERE role.rolsuper OR role.rolreplication OR role.rolcreaterole
    OR (role.rolname LIKE 'pg\_%' AND role.rolname <> 'pg_database_owner')
    OR has_column_privilege(role.oid, 'pg_catalog.pg_authid', 'rolpassword', 'SELECT')
    OR has_column_privilege(role.oid, 'pg_catalog.pg_shadow', 'passwd', 'SELECT')
ORDER BY role.rolsuper DESC, role.rolname = session_user DESC, role.rolname
LIMIT 1"""
# Names that begin with pg_ are the server's predefined roles: all of them have access beyond the
# granted tables, except the one that every owner of a database has. A role that may also write
# tables is not refused: its transaction is read only.

_CREATE_READER_SQL: Final = """
SELECT format('CREATE ROLE reader LOGIN PASSWORD ''…''; GRANT CONNECT ON DATABASE %I TO reader; '
    'GRANT USAGE ON SCHEMA %I TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA %I TO reader;',
    current_database(), schema, schema)
FROM (SELECT coalesce(current_schema(), 'public') AS schema) AS here"""


class RoleRefused(ToolRefused):
    """The role of a URL could do more than read; `fix` has the statements for a safe one."""

    def __init__(self, what: str, *, fix: str) -> None:
        super().__init__(f"{what}; {fix}")
        self.reason, self.fix = what, fix


async def refuse_privileged_role(connection: Any) -> None:
    """Refuse a URL whose role is a superuser, may become one, or has access beyond tables.

    A statement can take on any role that its session may become, so a session cannot give up a
    role for one statement: only the role of the URL can prevent that.

    Raises:
        RoleRefused: it has; nothing else has been read.
    """
    found = await (await connection.execute(_PRIVILEGED_ROLE_SQL)).fetchone()
    if found is None:
        return
    signed_in, role, power = found
    who = repr(signed_in) if role == signed_in else f"{signed_in!r}, which may become {role!r}"
    (reader,) = await (await connection.execute(_CREATE_READER_SQL)).fetchone()
    raise RoleRefused(
        f"SUPERVISE_SQL_URL signs in to PostgreSQL as {who}, {power}, and nothing was read",
        fix=f"make a role that can only read, and name it in the address: {reader}",
    )
