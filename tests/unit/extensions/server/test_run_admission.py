"""When a run is refused: too many of one user; a full queue."""

import asyncio
from typing import Any

import pytest
from langgraph_sdk import Auth

from extensions.server.run_admission import OpenRuns, RunAdmission

Refused = Auth.exceptions.HTTPException


def build(own: int = 0, waiting: int = 0) -> RunAdmission:
    async def count(user: str) -> OpenRuns:
        return OpenRuns(own=own, waiting=waiting)

    return RunAdmission(count, max_own=3, max_waiting=10)


async def test_a_run_within_all_limits_starts() -> None:
    await build(own=2, waiting=9).admit("bob")


async def test_runs_that_start_in_the_same_instant_count_before_they_are_stored() -> None:
    admission = build()

    admitted = await asyncio.gather(
        *(admission.admit("bob") for _ in range(10)), return_exceptions=True
    )

    assert sum(each is None for each in admitted) == 3


@pytest.mark.parametrize(
    ("found", "status", "words"),
    [
        ({"own": 3}, 429, "3 of your runs"),
        ({"waiting": 10}, 503, "the queue is full: 10 runs wait"),
    ],
)
async def test_a_refusal_says_why_and_when_to_try_again(
    found: dict[str, Any], status: int, words: str
) -> None:
    with pytest.raises(Refused) as refused:
        await build(**found).admit("bob")

    assert refused.value.status_code == status
    assert dict(refused.value.headers or {}) == {"Retry-After": "5"}
    assert words in refused.value.detail
