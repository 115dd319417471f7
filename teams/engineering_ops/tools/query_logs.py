"""Query the logs with SQL."""

import asyncio
import csv
import io
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import NothingToRead, ToolRefused
from nodes.tools.framework.tool_report import build_failures_part
from nodes.tools.sql.client import run_statement
from nodes.tools.sql.location import DatabaseLocation

from .incident.logs import LogContents, describe_unread_lines, read_log
from .incident.material_types import sort_materials
from .incident.timestamps import format_time

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
STATEMENT_TIMEOUT_S = 2.0
MAX_SQL_CHARS = 10_000
MAX_ROWS = 200_000
COLUMNS = ("line", "time", "level", "service", "version", "status", "duration_ms", "message")


@tool
async def query_logs(
    select: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Run one SELECT in DuckDB's SQL on the logs among the artifacts, each a table.

    Without `select` it lists tables and columns. A CSV keeps its own columns; of other logs each
    entry has line, time (UTC), level, service, version, status, duration_ms, message.
    Example: query_logs(select="SELECT status, count(*) FROM requests GROUP BY status")
    """
    if len(select) > MAX_SQL_CHARS:
        raise ToolRefused(f"the statement is longer than {MAX_SQL_CHARS} characters")
    sheets, gaps, failures = await asyncio.to_thread(_build_tables, materials or {})
    if not sheets:
        raise NothingToRead("no log is among the artifacts: .csv, .jsonl or .log")
    answer = await run_statement(
        DatabaseLocation("none"), sheets, select, timeout_s=STATEMENT_TIMEOUT_S
    )
    return {**answer, **({"gaps": gaps} if gaps else {}), **build_failures_part(failures)}


def _build_tables(materials: Mapping[str, str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Return the logs as tables, their unreadable lines, and what exceeded the limits."""
    logs = {name: text for name, text in sort_materials(materials).logs.items() if text.strip()}
    tables = {name: text for name, text in logs.items() if name.lower().endswith((".csv", ".tsv"))}
    read = {name: read_log(name, text) for name, text in logs.items() if name not in tables}
    gaps = [gap for name, one in read.items() for gap in describe_unread_lines(name, one)]
    failures = [
        f"only the first {MAX_ROWS:,} of {len(one.entries):,} entries of {name} are in its table"
        for name, one in read.items()
        if len(one.entries) > MAX_ROWS
    ]
    return tables | {name: _format_as_csv(one) for name, one in read.items()}, gaps, failures


def _format_as_csv(read: LogContents) -> str:
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(COLUMNS)
    for entry in read.entries[:MAX_ROWS]:
        time = format_time(entry.time).removesuffix(" UTC") if entry.time else ""
        values = (entry.level, entry.service, entry.version, entry.status, entry.duration_ms)
        rows.writerow([entry.line, time, *("" if v is None else v for v in values), entry.message])
    return written.getvalue()
