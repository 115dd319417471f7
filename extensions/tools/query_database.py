"""Query the user's database, data files and CSV materials with read-only SQL."""

from collections.abc import Mapping
from typing import Any

from langchain_core.tools import BaseTool, tool

from extensions.tools.sql.client import collect_tables, run_statement
from extensions.tools.sql.location import DatabaseLocation
from extensions.tools.sql.tables import mentions, name_tables
from nodes.errors import ToolRefused
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings

MAX_SQL_CHARS = 10_000


def query_database(settings: ToolSettings, *, timeout_s: float = 2.0) -> BaseTool:
    """Build the query tool over `settings.sql_url`; `timeout_s` limits one statement."""

    @tool("query_database")
    async def query(sql: str, materials: Materials = None) -> dict[str, Any]:
        """Run one SELECT on the user's database, the .csv files and sheets, each a table.

        Begin with query_database(sql="SHOW TABLES"): it lists tables, columns and sources.
        Let SQL calculate: sums, shares, growth. At most 200 rows come back.
        Example: query_database(sql="SELECT provider, sum(revenue) FROM sales GROUP BY provider")
        """
        if len(sql) > MAX_SQL_CHARS:
            raise ToolRefused(f"the statement is longer than {MAX_SQL_CHARS} characters")
        location, sheets = await collect_tables(settings, materials)
        wanted = "" if sql.strip().rstrip(";").strip().upper() == "SHOW TABLES" else sql
        if location.engine == "postgres":
            return await _ask_postgres(location, sheets, wanted, timeout_s)
        return await run_statement(location, sheets, wanted, timeout_s=timeout_s)

    return query


async def _ask_postgres(
    location: DatabaseLocation, sheets: Mapping[str, str], sql: str, timeout_s: float
) -> dict[str, Any]:
    if any(mentions(sql, table) for table in name_tables(sheets)):
        return await run_statement(DatabaseLocation("none"), sheets, sql, timeout_s=timeout_s)
    answer = await run_statement(location, {}, sql, timeout_s=timeout_s)
    if sql or not sheets:
        return answer
    own = await run_statement(DatabaseLocation("none"), sheets, "", timeout_s=timeout_s)
    return {**answer, "tables": own["tables"] + answer["tables"]}
