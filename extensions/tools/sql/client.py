"""Run a statement in a child process, for the tools and commands that read tables."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from extensions.tools.sql.location import DatabaseLocation, locate_database
from nodes.errors import NothingToRead, ToolFailed, ToolRefused
from nodes.schemas.team import Team
from nodes.text.csv_table import is_table_name
from nodes.text.json_records import read_records
from nodes.tools.framework.documents import MAX_TEXT_CHARS, is_cut
from nodes.tools.framework.isolation import run_isolated, run_isolated_blocking
from nodes.tools.framework.settings import ToolSettings

CHILD_FUNCTION = "extensions.tools.sql.child_program:run_statement"
ANALYSIS_FUNCTION = "extensions.tools.sql.table_analysis:analyze_table"
MAX_WRITTEN_BYTES = 500_000_000
"""Tables are written to a temporary folder of the child's for DuckDB to read."""
LOAD_TIMEOUT_S = 20.0
MAX_TABLES_CHARS = 3000


async def run_statement(
    location: DatabaseLocation, materials: Mapping[str, str], sql: str, *, timeout_s: float
) -> dict[str, Any]:
    """Return a statement's rows; without a statement, the tables.

    Raises:
        ToolFailed: it took too long.
        ToolRefused: the statement is wrong, which the message explains, or the role is refused.
    """
    answer = await _call(
        CHILD_FUNCTION, **_build_arguments(location, materials, timeout_s), sql=sql
    )
    if "fix" in answer:
        raise ToolRefused(f"{answer['error']}; {answer['fix']}")
    if "error" in answer:
        shown = _format_tables(answer["tables"])
        kind = ToolFailed if answer.get("failed") else ToolRefused
        raise kind(f"{answer['error']}. Tables: {shown or 'none'}")
    return answer


async def run_table_analysis(
    location: DatabaseLocation,
    materials: Mapping[str, str],
    table: str,
    question: Mapping[str, Any],
    *,
    timeout_s: float,
) -> dict[str, Any]:
    """Return what `table_analysis.analyze_table` computes; of words, a refusal is a gap.

    Raises:
        ToolFailed: it took too long.
        ToolRefused: the arguments do not fit the table, which the message explains.
    """
    arguments = _build_arguments(location, materials, timeout_s)
    try:
        return await _call(ANALYSIS_FUNCTION, **arguments, table=table, question=dict(question))
    except ToolRefused as refusal:
        if not question.get("question"):
            raise
        return {"summary": "", "is_complete": False, "gaps": [str(refusal)]}


async def _call(function: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await run_isolated(
        function,
        timeout_s=LOAD_TIMEOUT_S,
        max_written_bytes=MAX_WRITTEN_BYTES,
        failure="{}; filter or aggregate more",
        **arguments,
    )
    return answer


def inspect_database(location: DatabaseLocation) -> dict[str, Any]:
    """Return its `tables`, or what is wrong as `error`; with a `fix` if its role is refused."""
    arguments = _build_arguments(location, {}, LOAD_TIMEOUT_S)
    try:
        found: dict[str, Any] = run_isolated_blocking(
            CHILD_FUNCTION,
            timeout_s=LOAD_TIMEOUT_S,
            max_written_bytes=MAX_WRITTEN_BYTES,
            sql="",
            **arguments,
        )
    except ToolFailed as failure:
        return {"error": str(failure), "tables": []}
    return found


def _build_arguments(
    location: DatabaseLocation, materials: Mapping[str, str], statement_s: float
) -> dict[str, Any]:
    return {
        "engine": location.engine,
        "target": location.target,
        "materials": dict(materials),
        "statement_s": statement_s,
    }


def _format_tables(tables: list[dict[str, Any]]) -> str:
    known = "; ".join(f"{table['table']}({', '.join(table['columns'])})" for table in tables)
    cut = " [cut]" if len(known) > MAX_TABLES_CHARS else ""
    return known[:MAX_TABLES_CHARS] + cut


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


async def collect_tables(
    settings: ToolSettings, materials: Mapping[str, str] | None
) -> tuple[DatabaseLocation, dict[str, str]]:
    """Return where the database is, and the materials that are tables.

    Raises:
        NothingToRead: there is neither.
        ToolRefused: a table was cut when it was read, so figures on it would be wrong.
    """
    given = materials or {}
    records = {name: read_records(name, text) for name, text in given.items()}
    tables = {n: text for n, text in given.items() if is_table_name(n) and text.strip()}
    tables |= {name: text for name, text in records.items() if text is not None}
    if cut := ", ".join(name for name, text in tables.items() if is_cut(text)):
        raise ToolRefused(
            f"only the first {MAX_TEXT_CHARS / 1e6:g} MB of {cut} were read, so figures on it "
            "would be wrong; the user can give a smaller part, or have all of it queried where it "
            "is (setting: SUPERVISE_SQL_URL with its path)"
        )
    location = await asyncio.to_thread(locate_database, settings.sql_url)
    if location.engine == "none" and not tables:
        raise NothingToRead(
            "the task has no file with a table (on the command line: --file), and no database is "
            "set (setting: SUPERVISE_SQL_URL); work from your handoff, or report what is missing"
        )
    return location, tables
