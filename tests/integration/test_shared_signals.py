"""What one instance learns of an endpoint the others know: its Retry-After, that it is down."""

import asyncio
import logging
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from langchain_core.messages import HumanMessage

from extensions.server.shared.signals import CACHE_S, SharedSignals
from extensions.server.shared.store import SharedStore
from graph.commands.doctor import run_doctor
from graph.settings import Settings
from nodes.errors import EndpointDown
from nodes.models.catalog import ModelCatalog
from nodes.models.circuit_breaker import (
    FAILURE_THRESHOLD,
    OPEN_S,
    CircuitBreaker,
    EndpointSignals,
    RetryAfter,
)
from nodes.models.settings import ModelSettings
from tests.cluster.services import RedisServer
from tests.endpoint import Fault
from tests.redis_fixture import redis_server
from tests.runs import Runs

pytestmark = pytest.mark.slow
__all__ = ["redis_server"]
MODEL = "openai:gpt-5-mini"
TIMEOUT_S = 60.0


class Clock:
    """A clock that the test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Instance:
    """What one process knows of a model."""

    def __init__(self, url: str) -> None:
        self.clock, self.gate = Clock(), RetryAfter()
        self.breaker = CircuitBreaker(self.clock)
        self.store = SharedStore(url, timeout_s=10.0, retry_s=0.1)
        self.signals = SharedSignals(
            self.store, "endpoint", EndpointSignals(MODEL, self.gate, self.breaker)
        )

    async def fail_until_open(self) -> None:
        """Fail as often as opens the breaker."""
        for _ in range(FAILURE_THRESHOLD):
            self.signals.record_failure(self.clock.now, "connection refused")
            self.clock.now += 3
        await self.store.flush()

    async def admit(self, caller: object) -> float:
        """Look at what others know, and ask to send a request."""
        await self.signals.refresh()
        return await self.signals.admit(caller, TIMEOUT_S)


@pytest.fixture
def pair(redis_server: RedisServer) -> Iterator[tuple[Instance, Instance]]:
    yield Instance(redis_server.url), Instance(redis_server.url)


def end_pause(server: RedisServer) -> None:
    """Let the time pass after which a probe is allowed."""
    with server.connect() as client:
        for key in client.keys("*:pause"):
            client.delete(key)


async def test_a_retry_after_blocks_the_other_instance_and_is_not_ended_by_a_shorter_one(
    pair: tuple[Instance, Instance],
):
    first, second = pair
    first.signals.block(30)
    await first.store.flush()
    await second.signals.refresh()
    assert 25 < second.gate.get_blocked_s() <= 30

    second.signals.block(1)
    await second.store.flush()
    await second.signals.refresh()

    assert second.gate.get_blocked_s() > 25


async def test_a_breaker_that_opens_in_one_instance_is_open_in_the_other(
    pair: tuple[Instance, Instance],
):
    first, second = pair

    await first.fail_until_open()

    with pytest.raises(EndpointDown) as refused:
        await second.admit("call")
    assert refused.value.cause == "connection refused"
    assert (refused.value.retry_after_s or 0) > OPEN_S - 5


async def test_the_circuit_of_an_address_that_opens_in_one_instance_is_open_in_the_other(
    pair: tuple[Instance, Instance],
):
    first, second = pair
    for instance in pair:
        breaker = CircuitBreaker(instance.clock, min_models=2)
        own = EndpointSignals("all models at http://gateway", RetryAfter(), breaker)
        address = SharedSignals(instance.store, "http://gateway", own)
        own = EndpointSignals(MODEL, instance.gate, instance.breaker, address)
        instance.signals = SharedSignals(instance.store, "endpoint", own)
    first.signals.record_failure(first.clock.now, "503", "openai:gpt-5")

    await first.fail_until_open()

    with pytest.raises(EndpointDown, match="all models at http://gateway"):
        await second.admit("call")


async def test_one_instance_alone_sends_the_probe(
    pair: tuple[Instance, Instance], redis_server: RedisServer
):
    first, second = pair
    await first.fail_until_open()
    with pytest.raises(EndpointDown):
        await second.admit("call")
    end_pause(redis_server)

    assert await first.admit("probe") == 0
    with pytest.raises(EndpointDown):
        await second.admit("call")


async def test_a_probe_without_an_answer_leaves_its_place_to_another_whose_answer_closes_both(
    pair: tuple[Instance, Instance], redis_server: RedisServer
):
    first, second = pair
    await first.fail_until_open()
    with pytest.raises(EndpointDown):
        await second.admit("call")
    end_pause(redis_server)

    await first.admit("cancelled")
    first.signals.release_probe("cancelled")
    await first.store.flush()
    assert await second.admit("probe") == 0
    second.signals.record_answer(second.clock.now)
    second.signals.release_probe("probe")
    await second.store.flush()

    assert await first.admit("call") == 0
    assert not first.breaker.is_open()


async def test_a_breaker_of_a_redis_that_is_gone_is_that_of_the_process(
    redis_server: RedisServer,
):
    instance = Instance(redis_server.url)
    redis_server.kill()
    await instance.fail_until_open()
    instance.clock.now += OPEN_S

    assert await instance.admit("probe") == 0
    with pytest.raises(EndpointDown):
        await instance.admit("call")


async def test_calls_ask_for_news_once_in_a_while_and_not_each_time(
    redis_server: RedisServer,
):
    instance = Instance(redis_server.url)
    with redis_server.connect() as client:
        began = client.info("commandstats")
        end_s, looks = time.monotonic() + 2 * CACHE_S, 0
        while time.monotonic() < end_s:
            await instance.signals.refresh()
            looks += 1
            await asyncio.sleep(0)
        ended = client.info("commandstats")

    def count_scripts(stats: dict[str, dict[str, int]]) -> int:
        return stats.get("cmdstat_evalsha", {}).get("calls", 0)

    assert looks > 20
    assert count_scripts(ended) - count_scripts(began) <= 5


async def test_what_another_wrote_in_place_of_a_state_opens_the_breaker_without_its_words(
    pair: tuple[Instance, Instance], redis_server: RedisServer
):
    first, second = pair
    await first.fail_until_open()
    with redis_server.connect() as client:
        [key] = client.keys("*:breaker")
        client.set(key, b"\x1b[31m not JSON")

    with pytest.raises(EndpointDown) as refused:
        await second.admit("call")

    assert "\x1b" not in f"{refused.value} {refused.value.cause}"


async def make_calls(settings: ModelSettings, number: int) -> list[BaseException | object]:
    model = ModelCatalog(settings).get_chat_model("fast", None)
    calls = (model.ainvoke([HumanMessage("hello")]) for _ in range(number))
    return list(await asyncio.gather(*calls, return_exceptions=True))


async def test_no_call_fails_because_redis_is_killed_and_started_again(
    runs: Runs,
    model_settings: ModelSettings,
    redis_server: RedisServer,
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.WARNING)
    runs.script(latency_s={"*": 0.02})
    shared = replace(
        model_settings,
        requests_per_minute=600,
        tokens_per_minute=1e6,
        rate_period_s=2.0,
        instances=2,
        redis_url=redis_server.url,
        call_timeout_s=30.0,
    )
    before = await make_calls(shared, 20)
    redis_server.kill()
    without = await make_calls(shared, 20)
    redis_server.start()
    after = await make_calls(shared, 20)

    answers = [*before, *without, *after]
    assert not [each for each in answers if isinstance(each, BaseException)]
    assert len([text for text in caplog.messages if "is not available" in text]) == 1


async def test_a_retry_after_of_another_instance_holds_the_calls_of_this_one(
    runs: Runs, model_settings: ModelSettings, redis_server: RedisServer
):
    fault = Fault(kind="rate_limited", nth=(1,), retry_after="0.4")
    runs.script(faults=(fault,))
    shared = replace(model_settings, redis_url=redis_server.url, max_tries=2, max_concurrency=1)

    await make_calls(shared, 3)

    with redis_server.connect() as client:
        assert not client.keys("*:retry-after")  # its time is over
        assert client.info("commandstats")["cmdstat_set"]["calls"] >= 1
    refused, *later = runs.requests
    assert min(call.began_s for call in later) >= (refused.ended_s or 0.0) + 0.35


def test_the_doctor_names_what_is_wrong_with_the_redis(
    redis_server: RedisServer, settings: Settings, capsys: pytest.CaptureFixture[str]
):
    with redis_server.connect() as client:
        client.config_set("requirepass", "right-pass-word")
    address = redis_server.url.replace("//", "//:wrong-pass-word@")

    given = settings.model_dump(exclude_none=True) | {"redis_url": address, "instances": 2}
    code = run_doctor(Settings(**given))

    shown = capsys.readouterr().out
    assert code == 2
    assert "it refuses the password" in shown
    assert "1/2 of the rates" in shown
    assert "pass-word" not in shown
