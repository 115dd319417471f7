"""PostgreSQL: saves that wait together share a transaction; what a model may ask a database."""

import asyncio
import resource
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from extensions.postgres.store import open_postgres
from extensions.tools.query_database import query_database
from nodes.errors import StoreError, ToolFailed, ToolRefused
from nodes.tools.framework.settings import ToolSettings
from tests import postgres_server

pytestmark = pytest.mark.slow

AT: Any = {"configurable": {"thread_id": "one", "checkpoint_ns": ""}}


def count_transactions(url: str) -> int:
    """Return how many transactions the server has numbered: those that wrote."""
    [(number,)] = postgres_server.run_query(url, "SELECT txid_current()")
    return int(number)


async def test_writes_of_many_workers_at_once_share_few_transactions(postgres_url: str):
    async with open_postgres(postgres_url, "one") as database:
        at = await database.saver.aput(AT, empty_checkpoint(), {"step": 0}, {})
        before = count_transactions(postgres_url)
        await asyncio.gather(
            *(database.saver.aput_writes(at, [("results", n)], f"task-{n}") for n in range(50))
        )
        used = count_transactions(postgres_url) - before
        found = await database.saver.aget_tuple(at)

    assert found is not None and found.pending_writes is not None
    assert sorted(value for _, _, value in found.pending_writes) == list(range(50))
    assert used < 25


async def test_a_write_that_the_server_refuses_spares_those_of_its_group(postgres_url: str):
    async with open_postgres(postgres_url, "one") as database:
        at = await database.saver.aput(AT, empty_checkpoint(), {"step": 0}, {})
        outcomes = await asyncio.gather(
            *(
                database.saver.aput_writes(at, [("results", n)], "bad\x00" if n == 5 else f"t{n}")
                for n in range(10)
            ),
            return_exceptions=True,
        )
        found = await database.saver.aget_tuple(at)

    assert [isinstance(one, StoreError) for one in outcomes] == [n == 5 for n in range(10)]
    assert found is not None and len(found.pending_writes or ()) == 9


async def test_a_group_is_saved_again_when_its_connection_is_cut(postgres_url: str):
    cut = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE application_name = (SELECT 'supervise ' || holder FROM supervise_threads)"
    )
    async with open_postgres(postgres_url, "one") as database:
        at = await database.saver.aput(AT, empty_checkpoint(), {"step": 0}, {})
        postgres_server.run_query(postgres_url, cut)
        await asyncio.gather(
            *(database.saver.aput_writes(at, [("results", n)], f"task-{n}") for n in range(20))
        )
        found = await database.saver.aget_tuple(at)

    assert found is not None and len(found.pending_writes or ()) == 20


async def test_a_cancelled_run_keeps_what_it_was_saving_and_frees_its_thread(
    postgres_url: str,
):
    async with open_postgres(postgres_url, "one") as database:
        at = await database.saver.aput(AT, empty_checkpoint(), {"step": 0}, {})
        saving = asyncio.ensure_future(database.saver.aput_writes(at, [("results", 1)], "task"))
        await asyncio.sleep(0)
        saving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await saving
        found = await database.saver.aget_tuple(at)

    assert found is not None
    async with open_postgres(postgres_url, "one") as again:
        assert await again.saver.aget_tuple(at) is not None


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


async def test_a14_a_database_gives_rows_of_its_own_schema(sales_url: str):
    found = await run_query_tool(sales_url, "SELECT * FROM sales;")
    listed = await run_query_tool(sales_url, "SHOW TABLES")

    assert found["rows"] == [["North", 1]]
    assert any(table["table"].endswith(".sales") for table in listed["tables"])


async def test_a14_whatever_else_is_asked_is_refused_and_the_table_stays(sales_url: str):
    asked = [run_query_tool(sales_url, sql, timeout_s=0.5) for sql in REFUSED]

    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert [
        sql
        for sql, answer in zip(REFUSED, answers, strict=True)
        if not isinstance(answer, ToolRefused | ToolFailed) or "cannot be reached" in str(answer)
    ] == []
    assert postgres_server.run_query(sales_url, "SELECT * FROM sales") == [("North", 1.0)]


async def test_a14_a_huge_value_fills_no_memory_of_this_process(sales_url: str):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises((ToolRefused, ToolFailed)):
        await run_query_tool(sales_url, "SELECT repeat('x', 400000000)", timeout_s=0.5)
    many = await run_query_tool(
        sales_url, "SELECT repeat('x', 100000) FROM generate_series(1, 300)"
    )

    assert len(str(many)) < 1_000_000 and "cut" in many
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
