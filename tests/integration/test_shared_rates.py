"""Instances that share a Redis keep to the rates together, and to their own parts without it."""

import asyncio
import logging
import time
from collections.abc import Iterator

import pytest

from extensions.server.shared.signals import SharedRates
from extensions.server.shared.store import SharedStore
from nodes.models.rates import LocalRates, RateLimits
from tests.benchmarks.rates.measure import find_worst
from tests.cluster.services import RedisServer
from tests.redis_fixture import redis_server

pytestmark = pytest.mark.slow
__all__ = ["redis_server"]


class Instance:
    """What one process has: a connection of its own, and its own count."""

    def __init__(
        self, url: str, limits: RateLimits, instances: int = 2, *, timeout_s: float = 10.0
    ) -> None:
        self.store = SharedStore(url, timeout_s=timeout_s, retry_s=0.1)
        self.local = LocalRates(limits, instances)
        self.rates = SharedRates(self.store, "endpoint", limits, self.local)
        self.taken: list[tuple[float, float]] = []

    async def take(self, tokens: int = 0) -> None:
        """Take one request and note when."""
        await self.rates.take(tokens)
        self.taken.append((time.monotonic(), max(1.0, float(tokens))))

    async def take_until(self, end_s: float, tokens: int = 0) -> None:
        """Take as many requests as are allowed, in four tasks."""

        async def take_again() -> None:
            while time.monotonic() < end_s:
                await self.take(tokens)

        await asyncio.wait([asyncio.ensure_future(take_again()) for _ in range(4)], timeout=30)


@pytest.fixture
def alone(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    caplog.set_level(logging.WARNING, logger="extensions.server.shared.store")
    yield caplog


async def test_two_instances_make_together_no_more_requests_than_one_may(
    redis_server: RedisServer,
):
    limits = RateLimits(requests=20, period_s=0.5)
    both = [Instance(redis_server.url, limits) for _ in range(2)]

    end_s = time.monotonic() + 2
    await asyncio.gather(*(each.take_until(end_s) for each in both))

    taken = both[0].taken + both[1].taken
    assert find_worst(taken, 0.4) <= 20  # a busy machine notes some late
    assert len(taken) >= 70
    assert all(len(each.taken) >= 20 for each in both)


@pytest.mark.parametrize(
    ("estimate", "real", "fits"), [(1000, 10, 990), (10, 900, 100)], ids=["too high", "too low"]
)
async def test_an_estimate_is_replaced_by_the_real_size_for_all_instances(
    redis_server: RedisServer, estimate: int, real: int, fits: int
):
    limits = RateLimits(tokens=1000, period_s=3600)
    first, second = (Instance(redis_server.url, limits) for _ in range(2))
    charge = await first.rates.take(estimate)

    first.rates.correct(charge, real)
    await first.store.flush()

    async with asyncio.timeout(5):
        await second.rates.take(fits)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await second.rates.take(100)


async def test_a_correction_ends_with_the_request_it_corrects(redis_server: RedisServer):
    limits = RateLimits(tokens=100, period_s=0.3)
    instance = Instance(redis_server.url, limits)
    for _ in range(6):
        charge = await instance.rates.take(100)
        instance.rates.correct(charge, 60)
        await instance.store.flush()
        await instance.rates.take(40)

    with redis_server.connect() as client:
        [held] = client.mget("supervise:{endpoint}:tokens-sum")
    assert float(held) == 100


async def test_a_request_over_the_whole_limit_waits_for_an_empty_window(
    redis_server: RedisServer,
):
    limits = RateLimits(tokens=10, period_s=0.1)
    instance = Instance(redis_server.url, limits)

    async with asyncio.timeout(5):
        await instance.rates.take(1)
        await instance.rates.take(1_000_000)


async def test_a_large_request_is_not_overtaken_by_small_ones_for_ever(
    redis_server: RedisServer,
):
    limits = RateLimits(tokens=100, period_s=0.3)
    small, large = (Instance(redis_server.url, limits) for _ in range(2))
    crowd = asyncio.create_task(small.take_until(time.monotonic() + 20, tokens=10))
    await small.store.flush()

    async with asyncio.timeout(10):
        await large.take(100)

    crowd.cancel()


async def test_without_redis_each_instance_keeps_to_its_part_and_says_so_once(
    redis_server: RedisServer, alone: pytest.LogCaptureFixture
):
    limits = RateLimits(requests=20, period_s=0.5)
    both = [Instance(redis_server.url, limits) for _ in range(2)]
    await asyncio.gather(*(each.take() for each in both))
    redis_server.kill()

    end_s = time.monotonic() + 1.5
    await asyncio.gather(*(each.take_until(end_s) for each in both))

    assert find_worst(both[0].taken, 0.4) <= 10
    assert find_worst(both[0].taken + both[1].taken, 0.4) <= 20
    assert [record.levelname for record in alone.records] == ["WARNING", "WARNING"]
    assert "is not available" in alone.messages[0]


async def test_a_redis_that_is_back_counts_again(
    redis_server: RedisServer, alone: pytest.LogCaptureFixture
):
    limits = RateLimits(requests=40, tokens=4000, period_s=3600)
    first, second = (Instance(redis_server.url, limits) for _ in range(2))
    await first.take(100)
    redis_server.kill()
    await first.take(100)
    redis_server.start()
    await asyncio.sleep(0.15)

    await first.take(100)
    await second.take(100)

    with redis_server.connect() as client:
        requests, tokens = client.mget(
            "supervise:{endpoint}:requests-sum", "supervise:{endpoint}:tokens-sum"
        )
    assert (int(requests), int(tokens)) == (2, 200)
    assert "is available again" in alone.messages[-1]


async def test_a_far_away_redis_does_not_make_calls_wait_for_one_another(
    redis_server: RedisServer,
):
    instance = Instance(redis_server.url, RateLimits(requests=1000, period_s=3600))
    with redis_server.connect() as client:
        await instance.take()

        await asyncio.gather(*(instance.take() for _ in range(50)))

        connected = int(client.info("clients")["connected_clients"])
    assert connected > 10


async def test_a_redis_that_answers_late_holds_no_call_for_longer_than_its_timeout(
    redis_server: RedisServer, alone: pytest.LogCaptureFixture
):
    instance = Instance(redis_server.url, RateLimits(requests=40, period_s=3600), timeout_s=0.3)
    await instance.take()
    redis_server.pause()
    began_s = time.monotonic()

    await instance.take()
    waited_s = time.monotonic() - began_s
    await instance.take()

    assert 0.2 < waited_s < 2
    assert time.monotonic() - began_s < waited_s + 0.1
    assert "no answer within 0.3 s" in alone.text
    redis_server.resume()


async def test_an_address_without_a_server_costs_no_call(alone: pytest.LogCaptureFixture):
    instance = Instance("redis://:secret-word@127.0.0.1:1/0", RateLimits(requests=40))

    await instance.take()

    assert len(instance.taken) == 1
    assert "secret-word" not in alone.text
    assert len(alone.messages) == 1
