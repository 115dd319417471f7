"""The checkpointer that commits in groups: nothing lost, nobody's error another's."""

import asyncio
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from graph.stores.group_commit import GroupCommitSaver
from graph.stores.sqlite import open_saver
from nodes.errors import StoreError
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import SCOPE_KEY, RunScope, set_deadline


def make_config(thread: str, checkpoint: str | None = None) -> Any:
    place = {"thread_id": thread, "checkpoint_ns": ""}
    return {"configurable": place | ({"checkpoint_id": checkpoint} if checkpoint else {})}


async def save(saver: GroupCommitSaver, thread: str, scope: RunScope | None = None) -> None:
    config = make_config(thread)
    config["configurable"] |= {SCOPE_KEY: scope} if scope else {}
    await saver.aput(config, empty_checkpoint(), {"step": 0}, {})


async def test_what_is_saved_is_on_disk_when_the_call_returns(tmp_path: Path) -> None:
    async with open_saver(tmp_path / "runs.sqlite") as saver:
        await saver.aput(make_config("one"), empty_checkpoint(), {"step": 0}, {})

        with sqlite3.connect(tmp_path / "runs.sqlite") as other:
            (count,) = other.execute("SELECT count(*) FROM checkpoints").fetchone()

    assert count == 1


async def test_many_writers_at_once_all_have_their_place(tmp_path: Path) -> None:
    async with open_saver(tmp_path / "runs.sqlite") as saver:
        saved = await asyncio.gather(
            *(
                saver.aput(make_config(f"t{n}"), empty_checkpoint(), {"step": n}, {})
                for n in range(200)
            )
        )
        await asyncio.gather(
            *(saver.aput_writes(at, [("channel", n)], "task") for n, at in enumerate(saved))
        )
        found = [await saver.aget_tuple(make_config(f"t{n}")) for n in range(200)]

    assert [one.pending_writes[0][2] for one in found if one and one.pending_writes] == list(
        range(200)
    )


async def test_a_write_that_fails_spares_those_it_shares_a_commit_with(tmp_path: Path) -> None:
    async with open_saver(tmp_path / "runs.sqlite") as saver:
        good = [
            saver.aput(make_config(f"t{n}"), empty_checkpoint(), {"step": n}, {}) for n in range(10)
        ]
        bad = saver.aput({"configurable": {}}, empty_checkpoint(), {"step": 0}, {})

        outcomes = await asyncio.gather(*good[:5], bad, *good[5:], return_exceptions=True)

        found = [await saver.aget_tuple(make_config(f"t{n}")) for n in range(10)]

    assert [isinstance(one, KeyError) for one in outcomes] == [False] * 5 + [True] + [False] * 5
    assert all(found)


async def test_a_deleted_thread_is_gone_and_the_others_are_not(tmp_path: Path) -> None:
    async with open_saver(tmp_path / "runs.sqlite") as saver:
        for name in ("one", "two"):
            await saver.aput(make_config(name), empty_checkpoint(), {"step": 0}, {})
        await saver.adelete_thread("one")

        listed = [item.config["configurable"]["thread_id"] async for item in saver.alist(None)]

    assert listed == ["two"]


async def test_closing_finishes_what_waits(tmp_path: Path) -> None:
    async with open_saver(tmp_path / "runs.sqlite") as saver:
        waiting = [
            asyncio.ensure_future(
                saver.aput(make_config(f"t{n}"), empty_checkpoint(), {"step": n}, {})
            )
            for n in range(50)
        ]
        await asyncio.sleep(0)

    await asyncio.gather(*waiting)
    with sqlite3.connect(tmp_path / "runs.sqlite") as other:
        assert other.execute("SELECT count(*) FROM checkpoints").fetchone() == (50,)


async def test_what_comes_after_the_end_is_refused(tmp_path: Path) -> None:
    async with open_saver(tmp_path / "runs.sqlite") as saver:
        pass

    with pytest.raises(StoreError, match="closed"):
        await saver.aput(make_config("one"), empty_checkpoint(), {"step": 0}, {})


@pytest.mark.slow
async def test_a_locked_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    scope = RunScope(deadline=set_deadline(0.0, 0.0))
    late = make_config("one")
    late["configurable"][SCOPE_KEY] = scope
    async with open_saver(path) as saver:
        saver.conn.execute("PRAGMA busy_timeout = 50")
        with sqlite3.connect(path) as other:
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StoreError, match="locked"):
                await saver.aput(late, empty_checkpoint(), {"step": 0}, {})
            other.rollback()
        await saver.aput(make_config("one"), empty_checkpoint(), {"step": 0}, {})

        assert await saver.aget_tuple(make_config("one"))


async def test_c04_synchronous_callers_beside_asynchronous_ones_lose_nothing(
    tmp_path: Path,
) -> None:
    async with open_saver(tmp_path / "runs.sqlite") as saver:
        ours = (
            saver.aput(make_config(f"a{n}"), empty_checkpoint(), {"step": n}, {}) for n in range(50)
        )
        theirs = (
            asyncio.to_thread(saver.put, make_config(f"s{n}"), empty_checkpoint(), {"step": n}, {})
            for n in range(50)
        )
        await asyncio.gather(*ours, *theirs)

        with sqlite3.connect(tmp_path / "runs.sqlite") as other:
            found = other.execute("SELECT count(*) FROM checkpoints").fetchone()

    assert found == (100,)


@pytest.mark.parametrize("name", ["x') or 1=1--", "a.b; DROP TABLE checkpoints", "$[0]", ""])
async def test_r10_the_name_of_a_filter_is_never_part_of_a_statement(
    tmp_path: Path, name: str
) -> None:
    async with open_saver(tmp_path / "runs.sqlite") as saver:
        await saver.aput(make_config("one"), empty_checkpoint(), {"step": 0}, {})

        found: list[Any] = []
        with suppress(ValueError):
            found = [item async for item in saver.alist(None, filter={name: 1})]

        assert found == [] and await saver.aget_tuple(make_config("one"))


async def test_callers_in_one_process_share_a_saver_until_the_last_has_left(tmp_path: Path) -> None:
    async with open_saver(tmp_path / "runs.sqlite") as first:
        async with open_saver(tmp_path / "runs.sqlite") as second:
            assert second is first
        await save(first, "one")
    async with open_saver(tmp_path / "runs.sqlite") as later:
        assert later is not first
        assert await later.aget_tuple(make_config("one")) is not None


async def test_a_file_that_was_replaced_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    async with open_saver(path) as first:
        path.unlink()
        async with open_saver(path) as second:
            assert second is not first
            await save(second, "one")
    async with open_saver(path) as later:
        assert await later.aget_tuple(make_config("one")) is not None


@pytest.mark.slow
async def test_a_run_at_its_deadline_gives_up_a_locked_file_and_another_waits_on(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.sqlite"
    late = RunScope(deadline=set_deadline(now_s(), 0.0))
    async with open_saver(path) as saver:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            patient = asyncio.create_task(save(saver, "patient"))
            with pytest.raises(StoreError):
                await save(saver, "late", late)
            assert not patient.done()
        await patient
        assert await saver.aget_tuple(make_config("patient")) is not None


@pytest.mark.slow
async def test_runs_that_give_up_a_locked_file_together_have_an_error_each(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    late = RunScope(deadline=set_deadline(now_s(), 0.0))
    async with open_saver(path) as saver:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            saving = (save(saver, name, late) for name in ("one", "two"))
            one, two = await asyncio.gather(*saving, return_exceptions=True)

    assert isinstance(one, StoreError) and isinstance(two, StoreError)
    assert one is not two and str(one) == str(two)


@pytest.mark.slow
async def test_what_a_run_has_queued_ends_before_it_leaves_a_shared_saver(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    async with open_saver(path):
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            asyncio.get_running_loop().call_later(0.5, other.rollback)
            async with open_saver(path) as saver:
                saving = asyncio.create_task(save(saver, "one"))
                await asyncio.sleep(0.1)
            await asyncio.sleep(0)
            assert saving.done()


@pytest.mark.slow
async def test_a_caller_with_little_time_does_not_wait_as_long_as_one_before_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.sqlite"
    async with open_saver(path):
        pass

    async def open_in(wait_s: float) -> None:
        async with open_saver(path, wait_s):
            pass

    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        patient = asyncio.create_task(open_in(30.0))
        await asyncio.sleep(0.1)
        with pytest.raises(StoreError):
            await open_in(1.0)
        assert not patient.done()
    await patient
