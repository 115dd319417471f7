"""Large values of checkpoints: saved once a thread, read from files of every release."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import Checkpoint, empty_checkpoint

from graph.stores.errors import CheckpointUnreadable
from graph.stores.group_commit import VALUES_TABLE
from graph.stores.sqlite import open_for_deletion, open_saver

DOCUMENT = "The pump costs 42 euros. " * 4000


def make_config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}


def make_checkpoint(**values: Any) -> Checkpoint:
    return {**empty_checkpoint(), "channel_values": values}


async def save_steps(path: Path, thread: str, steps: int) -> None:
    """Save checkpoints that all hold one document and a counter."""
    async with open_saver(path) as saver:
        for step in range(steps):
            values = {"materials": {"pump.md": DOCUMENT}, "step": step}
            await saver.aput(make_config(thread), make_checkpoint(**values), {"step": step}, {})


def read_rows(path: Path, statement: str) -> list[Any]:
    with sqlite3.connect(path) as base:
        rows = base.execute(statement).fetchall()
    base.close()
    return rows


async def test_a_document_is_saved_once_however_many_checkpoints_hold_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"

    await save_steps(path, "one", 10)
    async with open_saver(path) as saver:
        newest = await saver.aget_tuple(make_config("one"))
        listed = [item.checkpoint["channel_values"] async for item in saver.alist(None)]

    whole = {"materials": {"pump.md": DOCUMENT}}
    assert newest is not None and newest.checkpoint["channel_values"] == {**whole, "step": 9}
    assert listed == [{**whole, "step": step} for step in range(9, -1, -1)]
    ((count, size),) = read_rows(path, f"SELECT count(*), sum(length(value)) FROM {VALUES_TABLE}")
    assert (count, size < len(DOCUMENT) + 100) == (1, True)


async def test_a_removed_thread_takes_its_values_with_it_and_leaves_those_of_others(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.sqlite"
    for thread in ("one", "two", "three"):
        await save_steps(path, thread, 2)

    with open_for_deletion(path) as delete_thread:
        freed = delete_thread("one")
    async with open_saver(path) as saver:
        await saver.adelete_thread("two")
        kept = await saver.aget_tuple(make_config("three"))

    assert freed > len(DOCUMENT)
    assert kept is not None and kept.checkpoint["channel_values"]["step"] == 1
    assert read_rows(path, f"SELECT thread_id FROM {VALUES_TABLE}") == [("three",)]


@pytest.mark.parametrize(
    "statement",
    [f"DELETE FROM {VALUES_TABLE}", f"UPDATE {VALUES_TABLE} SET value = substr(value, 1, 500)"],
)
async def test_a_checkpoint_whose_value_is_lost_or_damaged_is_named(
    tmp_path: Path, statement: str
) -> None:
    path = tmp_path / "runs.sqlite"
    await save_steps(path, "one", 1)
    read_rows(path, statement)

    async with open_saver(path) as saver:
        with pytest.raises(CheckpointUnreadable, match="of thread one cannot be read"):
            await saver.aget_tuple(make_config("one"))
