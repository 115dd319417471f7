"""Questions of one's own to the logs, in SQL."""

import asyncio
import csv
import io
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import NothingToRead, ToolRefused
from nodes.tools.incident.kinds import sort
from nodes.tools.incident.logs import read_log
from nodes.tools.incident.moments import shown
from nodes.tools.isolation import Isolated, IsolatedFailed

ENGINE = "nodes.tools.sql.engine"
LOAD_TIMEOUT_S = 20.0
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
    sheets = await asyncio.to_thread(_sheets, materials or {})
    if not sheets:
        raise NothingToRead("no log is among the artifacts: .csv, .jsonl or .log")
    asked = {
        "engine": "none",
        "target": "",
        "materials": sheets,
        "sql": select,
        "timeout_s": STATEMENT_TIMEOUT_S,
    }
    try:
        async with Isolated(ENGINE, timeout_s=LOAD_TIMEOUT_S) as engine:
            answer = await engine.ask(asked)
    except IsolatedFailed as failure:
        raise ToolRefused(f"the query failed: {failure}; filter or aggregate more") from failure
    if "error" in answer:
        tables = [f"{table['table']}({', '.join(table['columns'])})" for table in answer["tables"]]
        raise ToolRefused(f"{answer['error']}. Tables: {'; '.join(tables)[:3000]}")
    return answer


def _sheets(materials: Mapping[str, str]) -> dict[str, str]:
    logs = sort(materials).logs
    return {
        name: text if name.lower().endswith((".csv", ".tsv")) else _sheet(name, text)
        for name, text in logs.items()
        if text.strip()
    }


def _sheet(name: str, text: str) -> str:
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(COLUMNS)
    for entry in read_log(name, text).entries[:MAX_ROWS]:
        time = shown(entry.time).removesuffix(" UTC") if entry.time else ""
        values = (entry.level, entry.service, entry.version, entry.status, entry.duration_ms)
        rows.writerow([entry.line, time, *("" if v is None else v for v in values), entry.message])
    return written.getvalue()
