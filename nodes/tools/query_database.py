"""Reading SQL over the user's database, data files and CSV materials."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from nodes.errors import NothingToRead, ToolRefused
from nodes.tools.isolation import Isolated, IsolatedFailed
from nodes.tools.settings import ToolSettings
from nodes.tools.sql.location import Location, locate
from nodes.tools.sql.tables import Table, listing, mentions, result, table_names

ENGINE = "nodes.tools.sql.engine"
LOAD_TIMEOUT_S = 20.0
MAX_SQL_CHARS = 10_000


def query_database(settings: ToolSettings, *, timeout_s: float = 2.0) -> BaseTool:
    """Build the query tool over `settings.sql_url`; `timeout_s` is for one statement."""

    @tool("query_database")
    async def query(
        sql: str,
        materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
    ) -> dict[str, Any]:
        """Run one SELECT on the user's database and on the .csv artifacts, each a table.

        Begin with query_database(sql="SHOW TABLES"): it lists tables, columns and sources.
        Let SQL calculate: sums, shares, growth. At most 200 rows come back.
        Example: query_database(sql="SELECT provider, sum(revenue) FROM sales GROUP BY provider")
        """
        if len(sql) > MAX_SQL_CHARS:
            raise ToolRefused(f"the statement is longer than {MAX_SQL_CHARS} characters")
        sheets = {
            name: text
            for name, text in (materials or {}).items()
            if name.lower().endswith(".csv") and text.strip()
        }
        location = await asyncio.to_thread(locate, settings.sql_url)
        if location.engine == "none" and not sheets:
            raise NothingToRead(
                "no database is set (SUPERVISE_SQL_URL) and the task has no .csv artifact; work "
                "from your handoff, or report what is missing"
            )
        wanted = "" if sql.strip().rstrip(";").strip().upper() == "SHOW TABLES" else sql
        if location.engine == "postgres":
            return await _ask_postgres(location, sheets, wanted, timeout_s)
        return await _ask_files(location, sheets, wanted, timeout_s)

    return query


async def _ask_files(
    location: Location, sheets: Mapping[str, str], sql: str, timeout_s: float
) -> dict[str, Any]:
    request = {
        "engine": location.engine,
        "target": location.target,
        "materials": dict(sheets),
        "sql": sql,
        "timeout_s": timeout_s,
    }
    try:
        async with Isolated(ENGINE, timeout_s=LOAD_TIMEOUT_S) as engine:
            answer = await engine.ask(request)
    except IsolatedFailed as failure:
        raise ToolRefused(f"the query failed: {failure}; filter or aggregate more") from failure
    if "error" in answer:
        tables = [f"{table['table']}({', '.join(table['columns'])})" for table in answer["tables"]]
        raise _refused(answer["error"], tables)
    return answer


async def _ask_postgres(
    location: Location, sheets: Mapping[str, str], sql: str, timeout_s: float
) -> dict[str, Any]:
    import psycopg  # the driver loads only where a server is read

    from nodes.tools.sql import postgres

    tables = await postgres.tables(location.target)
    if not sql:
        own = await _ask_files(Location("none"), sheets, "", timeout_s) if sheets else {}
        answer = listing(tables)
        return answer | {"tables": own.get("tables", []) + answer["tables"]}
    if any(mentions(sql, table) for table in table_names(sheets)):
        return await _ask_files(Location("none"), sheets, sql, timeout_s)
    try:
        columns, rows = await postgres.query(location.target, sql, timeout_s)
    except TimeoutError:
        raise _refused("the statement took too long", _named(tables)) from None
    except psycopg.Error as error:
        raise _refused(str(error).splitlines()[0], _named(tables)) from error
    return result(sql, tables, columns, rows)


def _named(tables: list[Table]) -> list[str]:
    return [f"{table.name}({', '.join(table.columns)})" for table in tables]


def _refused(message: str, tables: list[str]) -> ToolRefused:
    known = "; ".join(tables)
    shown = known if len(known) <= 3000 else f"{known[:3000]} [cut]"
    return ToolRefused(f"{message}. Tables: {shown or 'none'}")
