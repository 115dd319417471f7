"""Work in a process that can be killed."""

import asyncio
import os

import pytest

from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.isolation import IsolatedFunction, run_isolated_blocking

pytestmark = pytest.mark.slow

CHILD = "tests.unit.tools.misbehaving_child:act"


async def test_one_child_answers_one_request_after_another():
    async with IsolatedFunction(CHILD, timeout_s=20) as child:
        first, second = await child.call(deed="print"), await child.call(deed="answer")

    assert first == second


async def test_a_failure_is_reported_and_the_next_request_gets_a_new_child():
    async with IsolatedFunction(CHILD, timeout_s=20) as child:
        for deed, reason in (("fail", "ValueError: no such thing"), ("die", "without an answer")):
            with pytest.raises(ToolFailed, match=reason):
                await child.call(deed=deed)
        assert await child.call(deed="answer")


async def test_a_child_that_refuses_has_not_failed_and_goes_on():
    async with IsolatedFunction(CHILD, timeout_s=20) as child:
        first = await child.call(deed="answer")
        with pytest.raises(ToolRefused, match="not this"):
            await child.call(deed="refuse")
        assert await child.call(deed="answer") == first


async def test_k06_a_child_that_takes_all_memory_is_killed_and_reported():
    async with IsolatedFunction(CHILD, timeout_s=20) as child:
        with pytest.raises(ToolFailed, match="MemoryError"):
            await child.call(deed="hoard")
        assert await child.call(deed="answer")


async def test_a_child_that_hangs_is_killed():
    async with IsolatedFunction(CHILD, timeout_s=20) as child:
        pid = (await child.call(deed="answer"))["pid"]
        child._timeout_s = 0
        with pytest.raises(ToolFailed, match="took longer"):
            await child.call(deed="hang")

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_cancelled_request_leaves_no_child():
    async def work(started: asyncio.Future[int]) -> None:
        async with IsolatedFunction(CHILD, timeout_s=20) as child:
            started.set_result((await child.call(deed="answer"))["pid"])
            await child.call(deed="hang")

    started = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(work(started))
    pid = await started
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_child_has_no_keys_and_writes_no_files(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    async with IsolatedFunction(CHILD, timeout_s=20) as child:
        names = (await child.call(deed="environment"))["names"]
        with pytest.raises(ToolFailed):
            await child.call(deed="write", path=str(tmp_path / "a"))

    assert "OPENAI_API_KEY" not in names
    assert not (tmp_path / "a").exists() or not (tmp_path / "a").read_text()


def test_one_request_can_be_asked_without_a_loop():
    assert "pid" in run_isolated_blocking(CHILD, deed="answer", timeout_s=20)
    with pytest.raises(ToolFailed):
        run_isolated_blocking(CHILD, deed="fail", timeout_s=20)
