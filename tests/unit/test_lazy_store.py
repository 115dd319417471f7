"""A store that is opened when it is first used, and closed at the end of a run."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from graph.stores.lazy_store import LazyStore
from graph.stores.sqlite import open_sqlite
from nodes.errors import StoreError

PLACE = ("capacity", "one")


@asynccontextmanager
async def open_slowly() -> AsyncIterator[BaseStore]:
    await asyncio.sleep(0.05)
    yield InMemoryStore()


async def test_an_operation_that_runs_is_done_when_the_store_is_closed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "runs.sqlite"
    async with open_sqlite(path) as database:
        writes = [
            asyncio.ensure_future(database.store.aput(PLACE, str(n), {"n": n})) for n in range(20)
        ]
        await asyncio.sleep(0)  # they begin

    assert await asyncio.gather(*writes) == [None] * 20 and not caplog.records
    async with open_sqlite(path) as database:
        assert len(await database.store.asearch(PLACE, limit=100)) == 20


async def test_an_operation_after_the_end_is_refused() -> None:
    async with LazyStore(open_slowly) as store:
        await store.aput(PLACE, "a", {"n": 1})

    with pytest.raises(StoreError, match="closed"):
        await store.aget(PLACE, "a")


async def test_an_operation_whose_caller_is_cancelled_delays_no_end() -> None:
    async with LazyStore(open_slowly) as store:
        writing = asyncio.ensure_future(store.aput(PLACE, "a", {"n": 1}))
        await asyncio.sleep(0)
        writing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await writing
