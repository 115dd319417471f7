"""What a model may ask a PostgreSQL database: one reading statement, for a while (A14)."""

import asyncio
import resource
from typing import Any

import pytest

from extensions.tools.query_database import query_database
from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.settings import ToolSettings
from tests import postgres_server

pytestmark = pytest.mark.slow

SLOW = "SELECT set_config('statement_timeout', '0', false), pg_sleep(30)"
REFUSED = (
    "SET default_transaction_read_only = off",
    "SET statement_timeout = 0",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "COMMIT; DROP TABLE sales",
    "SELECT 1; SELECT 2",
    "INSERT INTO sales VALUES ('South', 1) RETURNING region",
    "WITH made AS (DELETE FROM sales RETURNING 1) SELECT * FROM made",
    "COPY sales TO PROGRAM 'touch /tmp/made'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
    "DO $$ BEGIN LOOP END LOOP; END $$",
    "SELECT turnover FROM sales",
    "SELECT pg_sleep(30)",
    SLOW,
)


@pytest.fixture
def sales_url(postgres_url: str) -> str:
    """A schema with one table of one row, which the address of a reader leads to."""
    postgres_server.run_query(postgres_url, "CREATE TABLE sales (region TEXT, revenue FLOAT)")
    postgres_server.run_query(postgres_url, "INSERT INTO sales VALUES ('North', 1)")
    return postgres_server.grant_reader(postgres_url)


async def run_query_tool(url: str, sql: str, *, timeout_s: float = 2.0) -> dict[str, Any]:
    tool = query_database(ToolSettings(sql_url=url), timeout_s=timeout_s)
    found: dict[str, Any] = await tool.ainvoke({"sql": sql, "materials": None})
    return found


async def test_a14_a_database_gives_rows_of_its_own_schema(sales_url: str) -> None:
    found = await run_query_tool(sales_url, "SELECT * FROM sales;")
    listed = await run_query_tool(sales_url, "SHOW TABLES")

    assert found["rows"] == [["North", 1]]
    assert any(table["table"].endswith(".sales") for table in listed["tables"])


async def test_a14_whatever_else_is_asked_is_refused_and_the_table_stays(sales_url: str) -> None:
    asked = [run_query_tool(sales_url, sql, timeout_s=0.5) for sql in REFUSED]

    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert [
        sql
        for sql, answer in zip(REFUSED, answers, strict=True)
        if not isinstance(answer, ToolRefused | ToolFailed) or "cannot be reached" in str(answer)
    ] == []
    assert postgres_server.run_query(sales_url, "SELECT * FROM sales") == [("North", 1.0)]


async def test_a14_a_huge_value_fills_no_memory_of_this_process(sales_url: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises((ToolRefused, ToolFailed)):
        await run_query_tool(sales_url, "SELECT repeat('x', 400000000)", timeout_s=0.5)
    many = await run_query_tool(
        sales_url, "SELECT repeat('x', 100000) FROM generate_series(1, 300)"
    )

    assert len(str(many)) < 1_000_000 and "cut" in many
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
