"""The parts of the rates that need no Redis: dividing, estimating, and the address."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.models.endpoint_limits import TokenEstimate
from nodes.models.rates import LocalRates, RateLimits, divide_rate
from nodes.models.settings import find_redis_problem, format_redis_address
from tests.benchmarks.rates.measure import find_worst


@given(
    rate=st.floats(0.01, 1e7),
    instances=st.integers(1, 1000),
    period_s=st.floats(0.1, 3600),
)
def test_the_parts_of_all_instances_are_no_more_than_the_rate(
    rate: float, instances: int, period_s: float
) -> None:
    limit, own_period_s = divide_rate(rate, instances, period_s)

    assert limit >= 1 or rate < 1
    assert instances * limit / own_period_s <= rate / period_s * 1.000001


@given(
    ratios=st.lists(st.floats(0.2, 5), min_size=30, max_size=60),
    estimate=st.integers(50, 5000),
)
def test_estimates_that_are_learned_are_seldom_exceeded_and_stay_in_their_range(
    ratios: list[float], estimate: int
) -> None:
    learned = TokenEstimate()
    for ratio in ratios:
        learned.learn(estimate, max(1, round(estimate * ratio)))
        assert 0.1 * estimate <= learned.correct(estimate) <= 10 * estimate + 1


@pytest.mark.parametrize("ratio", [0.3, 1.0, 4.0])
def test_estimates_that_are_wrong_by_a_constant_become_right(ratio: float) -> None:
    learned = TokenEstimate()
    for _ in range(30):
        learned.learn(1000, round(1000 * ratio))

    assert learned.correct(1000) == pytest.approx(1000 * ratio, rel=0.05)


def test_a_reply_without_a_count_teaches_nothing() -> None:
    learned = TokenEstimate()

    learned.learn(0, 10)
    learned.learn(10, 0)

    assert learned.correct(100) == 100


async def test_an_instance_keeps_to_its_part_of_the_requests() -> None:
    rates = LocalRates(RateLimits(requests=20, period_s=0.2), instances=4)
    taken = []

    for _ in range(12):
        await rates.take(0)
        taken.append((time.monotonic(), 1.0))

    assert find_worst(taken, 0.2) <= 5


async def test_a_part_below_one_request_becomes_one_request_in_a_longer_time() -> None:
    rates = LocalRates(RateLimits(requests=1, period_s=0.1), instances=3)
    began_s = time.monotonic()

    await rates.take(0)
    await rates.take(0)

    assert time.monotonic() - began_s >= 0.3


async def test_tokens_given_back_let_the_next_request_in_before_its_time() -> None:
    rates = LocalRates(RateLimits(tokens=1000, period_s=3600))
    charge = await rates.take(1000)
    waiting = asyncio.ensure_future(rates.take(900))
    await asyncio.sleep(0)

    rates.correct(charge, 50)

    await asyncio.wait_for(waiting, 5)


@given(
    st.lists(st.tuples(st.floats(0, 50), st.integers(1, 9).map(float)), min_size=1, max_size=40),
    st.floats(0.5, 20),
)
def test_the_fullest_window_is_found(arrivals: list[tuple[float, float]], period_s: float) -> None:
    worst = max(
        sum(weight for at, weight in arrivals if end - period_s < at <= end) for end, _ in arrivals
    )

    assert find_worst(arrivals, period_s) == worst


@pytest.mark.parametrize(
    "address",
    [
        "redis://localhost",
        "redis://localhost:6379/0",
        "redis://:pass%20word@[::1]:6379/15",
        "rediss://user:password@example.com:6380/1?ssl_cert_reqs=required",
        "unix:///var/run/redis.sock?db=2",
    ],
)
def test_addresses_of_a_redis_are_accepted(address: str) -> None:
    assert find_redis_problem(address) == ""


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("localhost:6379", "not the address of a Redis"),
        ("http://localhost", "not the address of a Redis"),
        ("async+redis://localhost", "not the address of a Redis"),
        ("redis://", "names no server"),
        ("unix://", "names no server"),
        ("redis://localhost:0", "names no server"),
        ("redis://localhost:99999", "not a valid address"),
        ("redis://[::1", "not a valid address"),
        ("redis://localhost/runs", "database that is not a number"),
        ("redis://localhost?password=word", "unknown option: 'password'"),
    ],
)
def test_other_addresses_are_refused_with_the_reason(address: str, problem: str) -> None:
    assert problem in find_redis_problem(address)


def test_an_address_is_shown_without_user_password_and_options() -> None:
    shown = format_redis_address("rediss://user:password@example.com:6380/1?ssl_keyfile=key.pem")

    assert shown == "rediss://example.com:6380/1"
