"""The meeting of a dispatch: waiting, publishing, holding, starting in order."""

import asyncio

from nodes.rendezvous import Meeting
from state import Report

REPORT = Report(task="A", worker="w", output="x")


async def test_those_who_wait_get_the_report_and_so_do_those_who_come_late() -> None:
    meeting = Meeting(allowance=1)
    early = asyncio.ensure_future(meeting.wait("A"))
    await asyncio.sleep(0)

    meeting.publish("A", REPORT)

    assert await early == REPORT
    assert await meeting.wait("A") == REPORT


async def test_a_held_task_lets_its_waiters_go_with_nothing() -> None:
    meeting = Meeting(allowance=1)
    waiting = asyncio.ensure_future(meeting.wait("A"))

    meeting.hold("A")

    assert await waiting is None


async def test_the_first_word_on_a_task_stands() -> None:
    meeting = Meeting(allowance=1)
    meeting.publish("A", REPORT)

    meeting.hold("A")
    meeting.publish("A", REPORT.model_copy(update={"output": "another"}))

    assert await meeting.wait("A") == REPORT


async def test_a_cancelled_waiter_does_not_spoil_the_place_for_others() -> None:
    meeting = Meeting(allowance=1)
    waiting = asyncio.ensure_future(meeting.wait("A"))
    await asyncio.sleep(0)
    waiting.cancel()

    meeting.publish("A", REPORT)

    assert await meeting.wait("A") == REPORT


async def test_attempts_are_counted_down_to_none() -> None:
    meeting = Meeting(allowance=2)

    assert [meeting.spend(name) for name in "AABA"] == [True, True, False, False]


async def test_attempts_made_before_a_resume_are_counted_once() -> None:
    meeting = Meeting(allowance=3)
    meeting.count("A", 1)
    meeting.count("A", 1)

    assert meeting.left() == 2
    assert meeting.spend("A") and meeting.spend("B")
    meeting.count("A", 2)
    assert meeting.left() == 0


async def test_workers_start_one_after_another_in_the_order_they_came() -> None:
    meeting, started = Meeting(allowance=9), []

    async def start(name: str) -> None:
        await meeting.enter(name)
        started.append(name)
        await asyncio.sleep(0)
        meeting.entered(name)
        meeting.entered(name)

    await asyncio.gather(*map(start, "ABCD"))

    assert started == list("ABCD")
    assert not meeting.door.locked()
