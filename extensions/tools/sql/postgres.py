"""Query PostgreSQL, one reading statement per connection, in the child process: a row may be huge.

Three safeguards are independent of each other: the role can only read (`refuse_privileged_role`),
the transaction is read only and never commits, and the functions that the statement calls only
compute (`refuse_unsafe_functions`). Which tables may be read is decided by the role of the
connection.

A transaction that may only read protects tables, but not the server: functions write messages into
its log, take locks, end sessions, and run SQL out of text. The server's catalogue states what a
function does; what a statement may call is read from its text without parsing it, and rather too
much than too little: a name can only be called if a bracket or a comment follows it.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from extensions.tools.sql.tables import MAX_ROWS, SqlTable, describe_result, describe_tables
from nodes.errors import ToolFailed, ToolRefused
from nodes.limits.patterns import Pattern

_NAME: Final = Pattern(r"[\w$]+")
_CALL: Final = Pattern(r'(?<=[\w$])"?\s*+(?:\(|/\*|--)')
MAX_NAME_CHARS: Final = 63
"""The server truncates longer ones."""
_ESCAPED_NAME: Final = Pattern(r'u&"', re.IGNORECASE)

_SAFE_FUNCTION_NAMES: Final = """
age array_sample array_shuffle array_to_json array_to_string clock_timestamp col_description
concat concat_ws current_database current_schema current_schemas current_user date date_add
date_part date_subtract date_trunc enum_first enum_last enum_range extract format format_type
gen_random_uuid generate_series has_any_column_privilege has_column_privilege
has_schema_privilege has_table_privilege json_agg json_agg_strict json_build_array
json_build_object json_object_agg json_object_agg_strict json_object_agg_unique
json_object_agg_unique_strict json_populate_record json_populate_recordset json_to_record
json_to_recordset json_to_tsvector jsonb_agg jsonb_agg_strict jsonb_build_array
jsonb_build_object jsonb_path_exists_tz jsonb_path_match_tz jsonb_path_query_array_tz
jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record
jsonb_populate_record_valid jsonb_populate_recordset jsonb_to_record jsonb_to_recordset
jsonb_to_tsvector length make_timestamptz money now numeric obj_description overlaps
pg_column_size pg_database_size pg_get_constraintdef pg_get_indexdef pg_get_viewdef
pg_indexes_size pg_relation_size pg_table_size pg_total_relation_size pg_typeof
phraseto_tsquery plainto_tsquery quote_literal
quote_nullable random random_normal regclass row_to_json session_user statement_timestamp time
timeofday timestamp timestamptz timetz timezone to_char to_date to_json to_jsonb to_number
to_regclass to_regtype to_timestamp to_tsquery to_tsvector transaction_timestamp
ts_headline uuidv4 uuidv7 version websearch_to_tsquery xml xml_is_well_formed
"""
SAFE_FUNCTIONS: Final = _SAFE_FUNCTION_NAMES.split()
"""The server's own functions that are not immutable but only compute; others are refused."""

_HARMFUL_CALLS_SQL: Final = r"""
SELECT 'the function ' || p.proname
FROM pg_proc AS p LEFT JOIN pg_type AS argument ON argument.oid = p.proargtypes[0]
WHERE (
    lower(p.proname::text COLLATE "C") = ANY (%(called)s)
    -- A function of a row can be written as if it were a column of it.
    OR (argument.typtype IN ('c', 'd', 'p') AND p.pronargs - p.pronargdefaults <= 1
        AND lower(p.proname::text COLLATE "C") = ANY (%(names)s))
    OR (p.proname::text COLLATE "C" !~ '^[A-Za-z_][A-Za-z0-9_$]*$'
        AND strpos(lower(%(sql)s), lower(p.proname::text)) > 0)
)
AND p.prokind <> 'p' AND p.prorettype <> 'trigger'::regtype
AND 'internal'::regtype <> ALL (p.proargtypes)
AND has_schema_privilege(p.pronamespace, 'USAGE')
AND (
    p.prosecdef
    OR p.provolatile <> 'i' AND NOT (
        p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY (%(computing)s))
    OR EXISTS (
        SELECT FROM pg_aggregate AS a JOIN pg_proc AS step ON step.oid IN (
            a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn,
            a.aggmfinalfn)
        WHERE a.aggfnoid = p.oid AND (step.provolatile = 'v' OR step.prosecdef))
)
UNION
SELECT 'the operator ' || o.oprname FROM pg_operator AS o JOIN pg_proc AS p ON p.oid = o.oprcode
WHERE (p.provolatile = 'v' OR p.prosecdef) AND strpos(%(sql)s, o.oprname::text) > 0
UNION
SELECT 'the cast to ' || format_type(c.casttarget, NULL)
FROM pg_cast AS c JOIN pg_proc AS p ON p.oid = c.castfunc
WHERE (p.provolatile = 'v' OR p.prosecdef) AND (
    c.castcontext = 'i'
    -- A type of the server has more names than its own.
    OR %(sql)s ~* '::|cast' AND EXISTS (
        SELECT FROM pg_type AS t WHERE c.casttarget IN (t.oid, t.typbasetype)
        AND (t.typnamespace = 'pg_catalog'::regnamespace
            OR strpos(lower(%(sql)s), lower(t.typname::text)) > 0)))
ORDER BY 1 LIMIT 5"""


async def refuse_unsafe_functions(connection: Any, sql: str) -> None:
    """Refuse a statement that may call a function whose side effects are not known to be none.

    Raises:
        ToolRefused: it may; the message names the function.
    """
    if _ESCAPED_NAME.search(sql):
        raise ToolRefused('a name may not be written with escapes (U&"…"); write it plainly')
    names = list_names(sql)
    asked = {
        "called": [name for name, is_called in names if is_called],
        "names": [name for name, _ in names],
        "sql": sql.replace('""', '"'),
        "computing": SAFE_FUNCTIONS,
    }
    found = [
        row[0] for row in await (await connection.execute(_HARMFUL_CALLS_SQL, asked)).fetchall()
    ]
    if found:
        raise ToolRefused(
            f"the statement may not use {', '.join(found)}: only functions that compute, and have "
            "no other effect, may be called; select from tables and views without it"
        )


def list_names(sql: str) -> list[tuple[str, bool]]:
    """Return the words of a statement, in lower case, each with whether it may be a call."""
    return [
        (
            word[0].lstrip("0123456789$")[:MAX_NAME_CHARS].lower(),
            _CALL.match(sql, word.end()) is not None,
        )
        for word in _NAME.finditer(sql)
    ]


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
    except (psycopg.Error, TimeoutError):
        # The driver's message may repeat the URL, and with it the password.
        raise ToolFailed(
            "the database server cannot be reached; work from the files of your handoff, or report "
            "what is missing"
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
        f"the database (setting: SUPERVISE_SQL_URL) is signed in to as {who}, {power}, and nothing "
        "was read",
        fix=f"make a role that can only read, and name it in the address: {reader}",
    )
