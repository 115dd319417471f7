"""The tables that a task may read: its materials that are tables, and the user's database."""

import asyncio
from collections.abc import Mapping

from extensions.tools.sql.location import DatabaseLocation, locate_database
from nodes.errors import NothingToRead, ToolRefused
from nodes.text.csv_table import is_table_name
from nodes.tools.framework.documents import is_cut
from nodes.tools.framework.settings import ToolSettings


async def collect_tables(
    settings: ToolSettings, materials: Mapping[str, str] | None
) -> tuple[DatabaseLocation, dict[str, str]]:
    """Return where the database is, and the materials that are tables.

    Raises:
        NothingToRead: there is neither.
        ToolRefused: a table was cut when it was read, so figures on it would be wrong.
    """
    tables = {
        name: text
        for name, text in (materials or {}).items()
        if is_table_name(name) and text.strip()
    }
    if cut := ", ".join(name for name, text in tables.items() if is_cut(text)):
        raise ToolRefused(
            f"only the beginning of {cut} was read, so figures on it would be wrong; the user "
            "can set SUPERVISE_SQL_URL to its path, without --file, to have all of it queried"
        )
    location = await asyncio.to_thread(locate_database, settings.sql_url)
    if location.engine == "none" and not tables:
        raise NothingToRead(
            "no database is set (SUPERVISE_SQL_URL) and the task has no file with a table; "
            "work from your handoff, or report what is missing"
        )
    return location, tables
