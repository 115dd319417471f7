"""What one instance learns of an endpoint the others know: its Retry-After."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest
from langchain_core.messages import HumanMessage

from extensions.server.shared.rates import SharedRates
from extensions.server.shared.store import SharedStore
from graph.commands.doctor import run_doctor
from graph.settings import Settings
from nodes.models.catalog import ModelCatalog
from nodes.models.circuit_breaker import RetryAfter
from nodes.models.rates import LocalRates, RateLimits
from nodes.models.settings import ModelSettings
from tests.cluster.services import RedisServer
from tests.endpoint import Fault
from tests.redis_fixture import redis_server
from tests.runs import Runs

pytestmark = pytest.mark.slow
__all__ = ["redis_server"]


class Instance:
    """What one process knows of an endpoint."""

    def __init__(self, url: str) -> None:
        self.gate, limits = RetryAfter(), RateLimits(requests=100)
        self.store = SharedStore(url, timeout_s=10.0, retry_s=0.1)
        local = LocalRates(limits, 2)
        self.rates = SharedRates(self.store, "endpoint", limits, local, self.gate)

    async def block(self, seconds: float) -> None:
        """Let all instances wait for a Retry-After."""
        self.rates.block(seconds)
        await self.store.flush()


@pytest.fixture
def pair(redis_server: RedisServer) -> Iterator[tuple[Instance, Instance]]:
    yield Instance(redis_server.url), Instance(redis_server.url)


async def test_a_retry_after_blocks_the_other_instance(pair: tuple[Instance, Instance]) -> None:
    first, second = pair

    await first.block(30)
    await second.rates.take(1)

    assert 25 < second.gate.get_blocked_s() <= 30


async def test_a_shorter_retry_after_does_not_end_a_longer_one_elsewhere(
    pair: tuple[Instance, Instance],
):
    first, second = pair

    await first.block(30)
    await second.block(1)
    await second.rates.take(1)

    assert second.gate.get_blocked_s() > 25


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
    limited = replace(model_settings, requests_per_minute=600, max_tries=2, max_concurrency=1)
    shared = replace(limited, redis_url=redis_server.url)

    await make_calls(shared, 3)

    with redis_server.connect() as client:
        assert not client.keys("*:retry-after")  # its time is over
        assert client.info("commandstats")["cmdstat_set"]["calls"] >= 1
    refused, *later = runs.requests
    assert min(call.began_s for call in later) >= (refused.ended_s or 0.0) + 0.35


@pytest.mark.parametrize(
    ("password", "problem"),
    [("", "it refuses the password"), ("wrong-pass-word", "it refuses the password")],
)
def test_the_doctor_names_what_is_wrong_with_the_redis(
    redis_server: RedisServer,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    password: str,
    problem: str,
):
    with redis_server.connect() as client:
        client.config_set("requirepass", "right-pass-word")
    user = f":{password}@" if password else ""
    address = redis_server.url.replace("//", f"//{user}")

    given = settings.model_dump(exclude_none=True) | {"redis_url": address, "instances": 2}
    code = run_doctor(Settings(**given))

    shown = capsys.readouterr().out
    assert code == 2
    assert problem in shown
    assert "1/2 of the rates" in shown
    assert "pass-word" not in shown
