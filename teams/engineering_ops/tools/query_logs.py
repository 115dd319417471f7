"""Query the logs with SQL."""

import asyncio
import csv
import io
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from extensions.tools.logs.entries import Log, format_time
from extensions.tools.logs.reader import read_logs
from extensions.tools.sql.client import run_statement
from extensions.tools.sql.location import DatabaseLocation
from nodes.errors import NothingToRead
from nodes.text.csv_table import is_table_name
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.tool_report import build_failures_part

from .incident.sources import sort_materials

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
    materials: Materials = None,
) -> dict[str, Any]:
    """Run one SELECT on the logs among the files, each a table.

    A CSV keeps its own columns; of other logs each entry has line, time (UTC), level, service,
    version, status, duration_ms, message.
    Example: query_logs(select="SELECT status, count(*) FROM requests GROUP BY status")
    """
    tables, told = await asyncio.to_thread(_build_tables, materials or {})
    if not tables:
        raise NothingToRead("no log is among the files: .csv, .jsonl or .log")
    found = await run_statement(
        DatabaseLocation("none"), tables, select, timeout_s=STATEMENT_TIMEOUT_S
    )
    return {**found, **told}


def _build_tables(materials: Mapping[str, str]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the logs as tables, and the gaps and failures of those that are not tables."""
    logs = {name: text for name, text in sort_materials(materials)["logs"].items() if text.strip()}
    tables = {name: text for name, text in logs.items() if is_table_name(name)}
    gaps, failures = list[str](), list[str]()
    for log in read_logs({name: text for name, text in logs.items() if name not in tables}):
        tables[log.name] = _format_as_csv(log)
        limits, cut = log.describe_limits()
        gaps, failures = gaps + limits, failures + cut
    return tables, {**({"gaps": gaps} if gaps else {}), **build_failures_part(failures)}


def _format_as_csv(log: Log) -> str:
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(COLUMNS)
    for entry in log.entries:
        time = format_time(entry.time).removesuffix(" UTC") if entry.time else ""
        rows.writerow([time if name == "time" else getattr(entry, name) for name in COLUMNS])
    return written.getvalue()
