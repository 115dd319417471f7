"""The user's database, as a planner sees it."""

from typing import Final

from extensions.tools.sql.client import inspect_database
from extensions.tools.sql.location import locate_database
from nodes.errors import ToolRefused
from nodes.schemas.team import Team
from nodes.tools.framework.settings import ToolSettings

TABLE_TOOLS: Final = frozenset(("analyze_table", "query_database"))
MAX_TABLES: Final = 60
MAX_LINE_CHARS: Final = 600


def describe_tables(team: Team, settings: ToolSettings) -> str:
    """Return the tables, a line each, if a tool of the team reads them.

    A database that cannot be read is reported by the tool, when a worker calls it.
    """
    tools = {name for worker in team.workers for name in worker.tools}
    if not settings.sql_url or tools.isdisjoint(TABLE_TOOLS):
        return ""
    try:
        tables = inspect_database(locate_database(settings.sql_url))["tables"]
    except ToolRefused:
        return ""
    return "\n".join(
        f"- {each['table']}: {', '.join(each['columns'])}"[:MAX_LINE_CHARS]
        for each in tables[:MAX_TABLES]
    )
