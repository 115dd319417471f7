"""Query the logs with SQL."""

import asyncio
import csv
import io
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from nodes.errors import NothingToRead
from nodes.tools.framework.tool_report import build_failures_part
from nodes.tools.logs.entry import Log
from nodes.tools.logs.reader import TABLE_SUFFIXES, read_logs
from nodes.tools.logs.timestamps import format_time
from nodes.tools.sql.client import run_statement
from nodes.tools.sql.location import DatabaseLocation

from .incident.material_types import sort_materials

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
STATEMENT_TIMEOUT_S = 2.0
MAX_SQL_CHARS = 10_000
COLUMNS = ("line", "time", "level", "service", "version", "status", "duration_ms", "message")


@tool
async def query_logs(
    select: Annotated[
        str,
        Field(
            description="One SELECT in DuckDB's SQL; without it, tables and columns are listed",
            max_length=MAX_SQL_CHARS,
        ),
    ] = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Run one SELECT on the logs among the artifacts, each a table.

    A CSV keeps its own columns; of other logs each entry has line, time (UTC), level, service,
    version, status, duration_ms, message.
    Example: query_logs(select="SELECT status, count(*) FROM requests GROUP BY status")
    """
    tables, gaps, failures = await asyncio.to_thread(_build_tables, materials or {})
    if not tables:
        raise NothingToRead("no log is among the artifacts: .csv, .jsonl or .log")
    answer = await run_statement(
        DatabaseLocation("none"), tables, select, timeout_s=STATEMENT_TIMEOUT_S
    )
    return {**answer, **({"gaps": gaps} if gaps else {}), **build_failures_part(failures)}


def _build_tables(materials: Mapping[str, str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Return the logs as tables, and the gaps and failures of those that are not tables."""
    logs = {name: text for name, text in sort_materials(materials).logs.items() if text.strip()}
    tables = {name: text for name, text in logs.items() if name.lower().endswith(TABLE_SUFFIXES)}
    read = read_logs({name: text for name, text in logs.items() if name not in tables})
    limits = [log.describe_limits() for log in read]
    gaps = [gap for gaps, _ in limits for gap in gaps]
    failures = [cut for _, cuts in limits for cut in cuts]
    return tables | {log.name: _format_as_csv(log) for log in read}, gaps, failures


def _format_as_csv(log: Log) -> str:
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(COLUMNS)
    for entry in log.entries:
        time = format_time(entry.time).removesuffix(" UTC") if entry.time else ""
        values = (entry.level, entry.service, entry.version, entry.status, entry.duration_ms)
        rows.writerow([entry.line, time, *("" if v is None else v for v in values), entry.message])
    return written.getvalue()
