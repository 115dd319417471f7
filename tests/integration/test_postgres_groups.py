"""PostgreSQL: saves that wait together share a transaction, and each thread has one writer."""

import asyncio
import resource
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from extensions.postgres.shared_saver import SharedSaver, build_shared_saver
from extensions.postgres.store import open_postgres
from extensions.server.aegra_app import expire_lost_leases
from extensions.tools.query_database import query_database
from graph.stores.errors import ThreadTaken
from nodes.errors import StoreError, ToolFailed, ToolRefused
from nodes.tools.framework.settings import ToolSettings
from tests import postgres_server
from tests.endpoint import script_tasks
from tests.runs import GIVEN, Runs

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


async def test_a14_a_huge_value_fills_no_memory_of_this_process(sales_url: str):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises((ToolRefused, ToolFailed)):
        await run_query_tool(sales_url, "SELECT repeat('x', 400000000)", timeout_s=0.5)
    many = await run_query_tool(
        sales_url, "SELECT repeat('x', 100000) FROM generate_series(1, 300)"
    )

    assert len(str(many)) < 1_000_000 and "cut" in many
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


Pool = AsyncConnectionPool[AsyncConnection[DictRow]]


@pytest.fixture
async def server_saver(postgres_url: str) -> AsyncIterator[AsyncPostgresSaver]:
    """A checkpointer as a server opens it: over a pool."""
    options = {"autocommit": True, "prepare_threshold": None, "row_factory": dict_row}
    pool: Pool = AsyncConnectionPool(
        postgres_url, min_size=1, max_size=5, open=False, kwargs=options
    )
    async with pool:
        saver = AsyncPostgresSaver(conn=pool)
        await saver.setup()
        yield saver


async def start(saver: AsyncPostgresSaver, run: str) -> SharedSaver:
    started = build_shared_saver(saver, "one", run)
    assert started is not None
    await started.claim()
    return started


async def test_an_earlier_start_of_a_run_can_write_nothing_any_more(
    server_saver: AsyncPostgresSaver,
):
    first = await start(server_saver, "run")
    at = await first.aput(AT, empty_checkpoint(), {"step": 0}, {})
    await first.aput_writes(at, [("results", 1)], "a")

    second = await start(server_saver, "run")
    with pytest.raises(ThreadTaken) as taken:
        await first.aput_writes(at, [("results", 2)], "b")
    with pytest.raises(ThreadTaken):
        await first.aput(at, empty_checkpoint(), {"step": 1}, {})
    outcomes = await asyncio.gather(
        *(first.aput_writes(at, [("results", n)], f"c{n}") for n in range(5)),
        return_exceptions=True,
    )
    await second.aput_writes(at, [("results", 3)], "d")
    found = await server_saver.aget_tuple(at)

    assert taken.value.is_same_run
    assert {type(each) for each in outcomes} == {ThreadTaken}
    assert found is not None
    assert [value for _, _, value in found.pending_writes or ()] == [1, 3]


async def test_a_later_start_of_a_run_knows_when_the_first_one_began(
    server_saver: AsyncPostgresSaver,
):
    savers = [build_shared_saver(server_saver, "one", run) for run in ("run", "run", "other")]
    first, again, other = [await saver.claim() for saver in savers if saver]

    assert first.begun_s <= first.at_s < again.at_s
    assert again.begun_s == first.begun_s
    assert other.begun_s > again.at_s


TASKS = script_tasks({"A": (), "B": (), "C": ("A", "B"), "D": ("C",)}, latency_s=0.3)


def build_config(run: str) -> Any:
    return {"configurable": {"thread_id": "one", "run_id": run}}


async def test_a_start_that_lost_its_run_waits_and_calls_no_model(
    runs: Runs,
    server_saver: AsyncPostgresSaver,
    caplog: pytest.LogCaptureFixture,
):
    runs.script(*TASKS)
    graph = runs.build_graph("market_analysis", checkpointer=server_saver)
    first = asyncio.create_task(graph.ainvoke(GIVEN, build_config("run")))
    await runs.wait_for_calls(3, ended=1)

    resumed = await graph.ainvoke(GIVEN, build_config("run"))
    ended, _ = await asyncio.wait([first], timeout=1.0)
    calls = [call.task for call in runs.select_calls(schema="Report")]
    first.cancel()
    await asyncio.wait([first])

    assert resumed["status"] == "done"
    assert len(resumed["results"]) == 4
    assert not ended, "its end would be taken for that of the run"
    assert sorted(calls) == ["A", "A", "B", "B", "C", "D"]
    assert len(runs.select_calls(schema="Plan")) == 1
    assert [line for line in caplog.messages if "error[THREAD_TAKEN]" in line]


async def test_the_clock_of_a_run_that_saved_nothing_before_a_kill_has_not_stopped(
    runs: Runs, server_saver: AsyncPostgresSaver
):
    runs.script(*TASKS)
    graph = runs.build_graph("market_analysis", checkpointer=server_saver)
    await start(server_saver, "run")
    assert isinstance(server_saver.conn, AsyncConnectionPool)
    async with server_saver.conn.connection() as connection:
        await connection.execute(
            "UPDATE checkpoint_writes SET task_path = (task_path::float8 - 100)::text"
        )

    ended = await graph.ainvoke(GIVEN, build_config("run"))

    assert 100 < ended["timing"].wall_s < 200


async def test_a_run_ends_with_an_error_when_another_run_takes_its_thread(
    runs: Runs, server_saver: AsyncPostgresSaver
):
    runs.script(*TASKS)
    graph = runs.build_graph("market_analysis", checkpointer=server_saver)
    first = asyncio.create_task(graph.ainvoke(GIVEN, build_config("run")))
    await runs.wait_for_calls(3, ended=1)

    second = await graph.ainvoke(GIVEN, build_config("other"))

    with pytest.raises(ThreadTaken, match="another run"):
        await first
    assert second["status"] == "done"
    assert len([each for each in second["messages"] if each.type == "ai"]) == 1


RUNS = """
CREATE TABLE runs (run_id text, status text, claimed_by text, lease_expires_at timestamptz,
                   updated_at timestamptz)
"""


async def test_only_an_old_running_run_without_a_holder_gets_a_lease_that_has_passed(
    postgres_url: str,
):
    async with (
        await AsyncConnection.connect(postgres_url, autocommit=True) as connection,
        AsyncConnectionPool(postgres_url, min_size=1, max_size=2, open=False) as pool,
    ):
        await connection.execute(RUNS)
        await connection.execute(
            """INSERT INTO runs VALUES
               ('lost', 'running', NULL, NULL, now() - interval '90 seconds'),
               ('young', 'running', NULL, NULL, now() - interval '30 seconds'),
               ('held', 'running', 'a', now() + interval '9 seconds', now() - interval '1 hour'),
               ('done', 'success', NULL, NULL, now() - interval '1 hour'),
               ('waiting', 'pending', NULL, NULL, now() - interval '1 hour')"""
        )

        count = await expire_lost_leases(pool, lease_s=30.0)
        again = await expire_lost_leases(pool, lease_s=30.0)

        passed = await connection.execute("SELECT run_id FROM runs WHERE lease_expires_at < now()")
        assert await passed.fetchall() == [("lost",)]
        assert (count, again) == (1, 0)
