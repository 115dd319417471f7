"""Searches of a store that is not open: the same items as the library finds."""

from functools import partial
from pathlib import Path
from typing import Any

from langgraph.store.base import SearchOp

from graph.stores.sqlite import open_sqlite, read_once, search_store


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
