"""Writes that wait together are saved together, and each has its own outcome."""

import asyncio
from collections.abc import Sequence

import pytest

from extensions.postgres.saver import Outcome, WriteGroup


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
