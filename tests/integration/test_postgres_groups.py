"""Saves that wait at the same time share a transaction in PostgreSQL."""

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from extensions.postgres.store import open_postgres
from nodes.errors import StoreError
from tests import postgres_server

pytestmark = pytest.mark.slow

AT: Any = {"configurable": {"thread_id": "one", "checkpoint_ns": ""}}


def count_transactions(url: str) -> int:
    """Return how many transactions the server has numbered: those that wrote."""
    [(number,)] = postgres_server.run_query(url, "SELECT txid_current()")
    return int(number)


async def test_writes_of_many_workers_at_once_share_few_transactions(postgres_url: str) -> None:
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


async def test_a_write_that_the_server_refuses_spares_those_of_its_group(postgres_url: str) -> None:
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


async def test_a_group_is_saved_again_when_its_connection_is_cut(postgres_url: str) -> None:
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
) -> None:
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
