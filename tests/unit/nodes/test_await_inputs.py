"""The node in which a task waits for the reports that it needs."""

import asyncio
from typing import Any

import pytest

from nodes.await_inputs import after_await_inputs, await_inputs
from state import Report, Task, WorkerState
from tests.node_runs import NodeRun, make_config
from tests.node_samples import make_report, make_reports, make_task, make_worker_state


def make_waiting_state(task: Task, **known: Report) -> WorkerState:
    return WorkerState(task=task, known=known, steps_left=9)


async def wait(state: WorkerState, run: NodeRun | None = None) -> Any:
    return await (run or NodeRun()).call(await_inputs, state)


async def test_a_task_without_inputs_begins_at_once():
    task = make_task("A")

    update = await wait(make_waiting_state(task))

    assert update == {"inputs": {}, "description": task.description, "attempts": {}}


async def test_a_report_of_an_earlier_dispatch_is_taken_as_known():
    state = make_waiting_state(make_task("B", "analyst", "A"), **make_reports("A"))

    assert set((await wait(state))["inputs"]) == {"A"}


async def test_a_task_waits_until_its_input_is_published():
    run = NodeRun()
    waiting = asyncio.create_task(wait(make_waiting_state(make_task("B", "analyst", "A")), run))
    await asyncio.sleep(0.01)
    assert not waiting.done()

    run.dispatch.publish_report("A", make_report("A"))

    assert (await waiting)["inputs"] == make_reports("A")


@pytest.mark.parametrize("reason", ["the input failed", "the deadline", "the dispatch is stopped"])
async def test_a_task_that_cannot_begin_is_released(reason: str):
    run = NodeRun(make_config(work_left_s=0.02 if reason == "the deadline" else 60.0))
    failed = {"A": make_report("A", status="failed")} if reason == "the input failed" else {}
    if reason == "the dispatch is stopped":
        run.dispatch.stop()

    update = await wait(make_waiting_state(make_task("B", "analyst", "A"), **failed), run)

    assert update == {"released": True, "steps": {"B": 0}}


async def test_a_failed_optional_input_does_not_hold_the_task():
    failed = make_report("A", status="failed")

    update = await wait(make_waiting_state(make_task("B", "analyst", "A?"), A=failed))

    assert update["inputs"] == {"A": failed}


async def test_no_task_starts_while_the_monitor_decides():
    run = NodeRun()
    run.dispatch.may_start.clear()
    waiting = asyncio.create_task(wait(make_waiting_state(make_task("A")), run))
    await asyncio.sleep(0.01)
    assert not waiting.done()

    run.dispatch.may_start.set()

    assert "inputs" in await waiting


async def test_a_task_that_a_later_plan_has_changed_is_released_while_it_waits():
    run = NodeRun()
    task = make_task("B", "analyst", "A")
    waiting = asyncio.create_task(wait(make_waiting_state(task), run))
    await asyncio.sleep(0.01)

    run.dispatch.withdraw({"B": 2}, dropped=())

    assert await waiting == {"released": True}
    assert not run.dispatch.is_settled("B"), "its new version reports under the same id"
    newer = WorkerState(**make_waiting_state(task, **make_reports("A")), plan_version=2)
    assert "inputs" in await wait(newer, run)


def test_a_released_task_ends_here():
    assert after_await_inputs(make_worker_state(released=True)) == "__end__"
    assert after_await_inputs(make_worker_state()) == "act"
