"""The meeting of a dispatch: waiting, publishing, holding, starting in order."""

import asyncio

from nodes.execution.dispatch import Dispatch
from state import Report


async def wait_for_report(meeting: Dispatch) -> Report | None:
    """Wait as a task that needs A does."""
    arrived = await meeting.wait_for_inputs("B", ["A"], version=1)
    return (arrived or {}).get("A")


REPORT = Report(task="A", worker="w", output="x")


async def test_early_and_late_waiters_get_the_report_though_another_was_cancelled() -> None:
    meeting = Dispatch(steps_at_start=1)
    early, cancelled = (asyncio.ensure_future(wait_for_report(meeting)) for _ in range(2))
    await asyncio.sleep(0)
    cancelled.cancel()

    meeting.publish_report("A", REPORT)

    assert await early == REPORT
    assert await wait_for_report(meeting) == REPORT


async def test_releasing_a_task_lets_its_waiters_go_on_without_a_report() -> None:
    meeting = Dispatch(steps_at_start=1)
    waiting = asyncio.ensure_future(wait_for_report(meeting))

    meeting.release("A")

    assert await waiting is None


async def test_the_first_report_on_a_task_is_kept() -> None:
    meeting = Dispatch(steps_at_start=1)
    meeting.publish_report("A", REPORT)

    meeting.release("A")
    meeting.publish_report("A", REPORT.model_copy(update={"output": "another"}))

    assert await wait_for_report(meeting) == REPORT


async def test_attempts_are_counted_down_to_none() -> None:
    meeting = Dispatch(steps_at_start=2)

    assert [meeting.spend_step(name) for name in "AABA"] == [True, True, False, False]


async def test_attempts_made_before_a_resume_are_counted_once() -> None:
    meeting = Dispatch(steps_at_start=3)
    meeting.record_attempts("A", 1)
    meeting.record_attempts("A", 1)

    assert meeting.count_steps_left() == 2
    assert meeting.spend_step("A") and meeting.spend_step("B")
    meeting.record_attempts("A", 2)
    assert meeting.count_steps_left() == 0


async def test_a_cancelled_wait_for_inputs_leaves_the_reports_to_others() -> None:
    meeting = Dispatch(steps_at_start=1)
    waiting = asyncio.ensure_future(meeting.wait_for_inputs("B", ["A"], version=1))
    await asyncio.sleep(0)
    waiting.cancel()

    meeting.publish_report("A", REPORT)

    assert await meeting.wait_for_inputs("B", ["A"], version=1) == {"A": REPORT}


async def test_a_task_that_was_dropped_and_planned_again_can_report() -> None:
    meeting = Dispatch(steps_at_start=1)
    meeting.withdraw({"A": 2}, dropped=["A"])
    assert await wait_for_report(meeting) is None

    meeting.reopen(["A"])
    meeting.publish_report("A", REPORT)

    assert await wait_for_report(meeting) == REPORT
