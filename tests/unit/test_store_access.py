"""Stores: opened late, searched unopened, written in groups, held to LangGraph's contract."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.store.base import BaseStore, SearchOp
from langgraph.store.memory import InMemoryStore

from extensions.postgres.saver import Outcome, WriteGroup
from extensions.postgres.store import open_postgres
from graph.stores.group_commit import GroupCommitSaver
from graph.stores.grouped_store import set_up_tables
from graph.stores.lazy_store import LazyStore
from graph.stores.sqlite import open_saver, open_sqlite, read_once, search_store
from nodes.errors import StoreError
from tests import postgres_server


class Disk:
    """Keeps the groups that it is given; a write "bad" fails, "full" fails its whole group."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.is_free, self.is_asked = asyncio.Event(), asyncio.Event()
        self.is_free.set()

    async def save(self, group: Sequence[str]) -> list[Outcome]:
        self.groups.append(list(group))
        self.is_asked.set()
        await self.is_free.wait()
        if "full" in group:
            raise OSError("the disk is full")
        return [ValueError("not a value") if write == "bad" else None for write in group]


async def test_writes_of_one_turn_and_writes_during_a_save_form_groups() -> None:
    disk = Disk()
    group = WriteGroup(disk.save)
    disk.is_free.clear()

    first = asyncio.gather(*(group.write(name) for name in "abc"))
    await disk.is_asked.wait()
    later = asyncio.gather(*(group.write(name) for name in "de"))
    await asyncio.sleep(0)
    disk.is_free.set()
    await asyncio.gather(first, later)

    assert disk.groups == [["a", "b", "c"], ["d", "e"]]


async def test_a_write_that_fails_spares_the_others_of_its_group() -> None:
    disk = Disk()
    group = WriteGroup(disk.save)

    found = await asyncio.gather(*map(group.write, ["a", "bad", "b"]), return_exceptions=True)

    assert [type(one) for one in found] == [type(None), ValueError, type(None)]


async def test_a_group_that_fails_fails_for_each_of_its_writers_and_for_no_later_one() -> None:
    disk = Disk()
    group = WriteGroup(disk.save)

    found = await asyncio.gather(group.write("a"), group.write("full"), return_exceptions=True)
    await group.write("b")

    assert [type(one) for one in found] == [OSError, OSError]
    assert disk.groups[-1] == ["b"]


async def test_a_cancelled_writer_takes_nothing_back_and_the_end_waits_for_its_write() -> None:
    disk = Disk()
    group = WriteGroup(disk.save)
    disk.is_free.clear()
    writing = asyncio.ensure_future(group.write("a"))
    await disk.is_asked.wait()

    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    ending = asyncio.ensure_future(group.finish())
    await asyncio.sleep(0)
    is_waiting = not ending.done()
    disk.is_free.set()
    await ending

    assert is_waiting and disk.groups == [["a"]]


PLACE = ("capacity", "one")


@asynccontextmanager
async def open_slowly() -> AsyncIterator[BaseStore]:
    await asyncio.sleep(0.05)
    yield InMemoryStore()


async def call(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


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


async def test_many_runs_write_to_the_store_through_one_connection(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"

    async def write(n: int) -> BaseStore | None:
        async with open_sqlite(path) as database:
            await database.store.aput(PLACE, str(n), {"n": n})
            assert isinstance(database.saver, GroupCommitSaver)
            return database.saver.store

    async with open_sqlite(path) as database:
        used = await asyncio.gather(*map(write, range(20)))
        kept = await database.store.asearch(PLACE, limit=100)

    assert len(kept) == 20 and len({id(store) for store in used}) == 1


async def test_an_operation_after_the_end_is_refused() -> None:
    async with LazyStore(open_slowly, steady=call) as store:
        await store.aput(PLACE, "a", {"n": 1})

    with pytest.raises(StoreError, match="closed"):
        await store.aget(PLACE, "a")


async def test_an_operation_whose_caller_is_cancelled_delays_no_end() -> None:
    async with LazyStore(open_slowly, steady=call) as store:
        writing = asyncio.ensure_future(store.aput(PLACE, "a", {"n": 1}))
        await asyncio.sleep(0)
        writing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await writing


async def fill_store(path: Path) -> list[dict[str, Any]]:
    """Store three items, one of them under a longer namespace, and return what a search finds."""
    async with open_sqlite(path) as database:
        await database.store.aput(("load", "trio"), "writer", {"seconds": 2.5}, index=False)
        await database.store.aput(("load", "trio", "x"), "deep", {"seconds": 1}, index=False)
        await database.store.aput(("load", "trios"), "other", {"seconds": 9}, index=False)
        return [item.dict() for item in await database.store.asearch(("load", "trio"))]


async def test_a_search_finds_what_the_library_finds(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    expected = await fill_store(path)

    async with open_sqlite(path) as database:
        found = [item.dict() for item in await database.store.asearch(("load", "trio"))]

    assert sorted(found, key=str) == sorted(expected, key=str)
    assert {item["key"] for item in found} == {"writer", "deep"}


async def test_a_file_without_a_store_has_no_items(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "runs.sqlite") as database:
        assert await database.store.asearch(("load", "trio")) == []


def test_k07_a_set_up_that_is_cut_anywhere_begins_again(tmp_path: Path) -> None:
    for version in range(5):
        path = tmp_path / f"{version}.sqlite"
        with closing(sqlite3.connect(path)) as base:
            base.execute("CREATE TABLE store_migrations (v INTEGER PRIMARY KEY)")
            base.execute(
                f"CREATE TRIGGER cut BEFORE INSERT ON store_migrations WHEN new.v = {version} "
                "BEGIN SELECT raise(ABORT, 'cut'); END"
            )
        with pytest.raises(sqlite3.Error, match="cut"):
            set_up_tables(path)

        with closing(sqlite3.connect(path)) as base:
            base.execute("DROP TRIGGER cut")
        set_up_tables(path)

        with closing(sqlite3.connect(path)) as base:
            assert base.execute("SELECT max(v) FROM store_migrations").fetchone() == (4,)


async def test_a_limit_holds_and_a_filter_is_left_to_the_library(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    await fill_store(path)

    read = partial(read_once, path)
    one = await search_store(read, SearchOp(("load", "trio"), limit=1))

    assert one is not None and len(one) == 1
    assert await search_store(read, SearchOp(("load", "trio"), filter={"seconds": 1})) is None
    async with open_sqlite(path) as database:
        filtered = await database.store.asearch(("load",), filter={"seconds": 9})
    assert [item.key for item in filtered] == ["other"]


async def list_failures(opens: Any) -> tuple[set[str], list[str]]:
    """Return what was tested, and what of it failed."""
    report = await validate(checkpointer_test(name="ours")(opens))
    tested = {name: result for name, result in report.results.items() if result.tests_passed}
    return set(tested), [line for result in report.results.values() for line in result.failures]


BASE = {"put", "put_writes", "get_tuple", "list", "delete_thread"}


@asynccontextmanager
async def open_on_postgres(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    with postgres_server.create_schema(request.getfixturevalue("postgres_server_url")) as url:
        async with open_postgres(url, "one") as database:
            yield database.saver


@pytest.mark.slow
@pytest.mark.parametrize("where", ["sqlite", "postgres"])
async def test_the_checkpointers_keep_the_contract(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async def opens() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
        path = tmp_path / "runs.sqlite"
        async with open_saver(path) if where == "sqlite" else open_on_postgres(request) as saver:
            yield saver

    tested, failed = await list_failures(opens)

    assert not failed
    assert tested >= (BASE if where == "sqlite" else {*BASE, "prune"})
