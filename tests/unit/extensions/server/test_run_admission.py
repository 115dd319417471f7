"""When a run is refused: too many of one user, a full queue, too many within a minute."""

import asyncio
from typing import Any

import pytest
from langgraph_sdk import Auth

from extensions.server.run_admission import OpenRuns, RunAdmission, StartCounter, ThreadAdmission
from tests.cluster.services import RedisServer
from tests.redis_fixture import redis_server as redis_server

Refused = Auth.exceptions.HTTPException


async def start_together(admission: RunAdmission | ThreadAdmission, times: int) -> list[Any]:
    """Return the refusal of each of some runs that start at once; None where it starts."""
    runs = (admission.admit("bob") for _ in range(times))
    return list(await asyncio.gather(*runs, return_exceptions=True))


def build(own: int = 0, waiting: int = 0, wait_s: int = 0) -> RunAdmission:
    async def count(user: str) -> OpenRuns:
        return OpenRuns(own=own, waiting=waiting)

    async def start(user: str) -> int:
        await asyncio.sleep(0)  # as a call of Redis lets other requests run
        return wait_s

    return RunAdmission(count, start, max_own=3, max_waiting=10)


async def test_a_run_within_all_limits_starts() -> None:
    await build(own=2, waiting=9).admit("bob")


async def test_runs_that_start_in_the_same_instant_count_before_they_are_stored() -> None:
    assert (await start_together(build(), 10)).count(None) == 3


async def test_a_run_that_the_rate_refuses_does_not_count() -> None:
    admission = build(wait_s=40)

    refused = [(await start_together(admission, 1))[0] for _ in range(5)]

    assert all("within a minute" in str(each) for each in refused)


async def test_threads_beyond_the_limit_are_refused_with_the_way_to_delete() -> None:
    async def count(user: str) -> int:
        return {"bob": 999, "anna": 0}[user]

    admission = ThreadAdmission(count, max_own=1000)

    admitted = await start_together(admission, 5)
    await admission.admit("anna")

    refused = [each for each in admitted if isinstance(each, Refused)]
    assert len(refused) == 4
    assert refused[0].status_code == 429
    assert "1,000 threads" in refused[0].detail and "DELETE /threads/THREAD" in refused[0].detail


@pytest.mark.parametrize(
    ("found", "status", "wait_s", "words"),
    [
        ({"own": 3}, 429, "5", "3 of your runs"),
        ({"waiting": 10}, 503, "5", "the queue is full: 10 runs wait"),
        ({"wait_s": 40}, 429, "40", "within a minute; try again in 40 s"),
    ],
)
async def test_a_refusal_says_why_and_when_to_try_again(
    found: dict[str, Any], status: int, wait_s: str, words: str
) -> None:
    with pytest.raises(Refused) as refused:
        await build(**found).admit("bob")

    assert refused.value.status_code == status
    assert dict(refused.value.headers or {}) == {"Retry-After": wait_s}
    assert words in refused.value.detail


async def test_starts_are_counted_for_each_user_alone() -> None:
    counter = StartCounter(2)

    waits = [await counter.count(user) for user in ("bob", "bob", "bob", "anna")]

    assert [wait > 0 for wait in waits] == [False, False, True, False]
    assert 1 <= waits[2] <= 60


async def test_an_instance_without_redis_allows_its_part() -> None:
    counter = StartCounter(5, instances=2)

    assert [await counter.count("bob") > 0 for _ in range(4)] == [False, False, False, True]


@pytest.mark.slow
async def test_instances_share_the_count_and_count_alone_when_redis_is_gone(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = (StartCounter(4, url=redis_server.url, instances=2) for _ in range(2))

    shared = [await each.count("bob") > 0 for each in (first, second, first, second, first, second)]
    redis_server.stop()
    alone = [await first.count("bob") > 0 for _ in range(3)]

    assert shared == [False] * 4 + [True] * 2
    assert alone == [False, False, True]
    assert "Redis does not count starts" in caplog.text
