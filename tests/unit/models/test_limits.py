"""Limits hold for all who call an endpoint together."""

import asyncio
import contextvars
import itertools
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from nodes.errors import RateLimited
from nodes.models.catalog import ModelCatalog
from nodes.models.circuit_breaker import RetryAfter
from nodes.models.endpoint_limits import EndpointLimits, hold_for_task
from nodes.models.guarded_model import GuardedModel
from nodes.models.rates import CrossLoopSemaphore, LocalRates, RateLimits
from nodes.models.settings import ModelSettings
from state import Context
from tests.endpoint import Endpoint, Fault, Scenario


async def make_calls(
    settings: ModelSettings, number: int, context: Context | None = None
) -> list[BaseException | object]:
    models = [ModelCatalog(settings) for _ in range(number)]
    calls = (
        model.get_chat_model("fast", context).ainvoke([HumanMessage("hello")]) for model in models
    )
    return list(await asyncio.gather(*calls, return_exceptions=True))


@pytest.mark.parametrize("cap", [1, 4])
async def test_the_endpoint_never_sees_more_calls_than_allowed(
    endpoint: Endpoint, model_settings: ModelSettings, cap: int
) -> None:
    endpoint.load_scenario(Scenario(latency_s={"*": 0.01}))

    await make_calls(replace(model_settings, max_concurrency=cap), 20)

    assert endpoint.max_in_flight == cap
    assert len(endpoint.requests) == 20


async def test_a_run_may_allow_itself_fewer_calls(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(latency_s={"*": 0.01}))

    await make_calls(model_settings, 12, Context(max_concurrency=2))

    assert endpoint.max_in_flight == 2


@pytest.mark.parametrize(
    ("at_once", "seconds", "made"), [(1, 60.0, "aabb"), (1, 0.1, "abab"), (2, 60.0, "abab")]
)
async def test_on_a_slow_server_of_one_slot_a_task_makes_all_its_calls_before_the_next(
    model_settings: ModelSettings, at_once: int, seconds: float, made: str
) -> None:
    model = ModelCatalog(replace(model_settings, max_concurrency=at_once)).get_chat_model("fast")
    assert isinstance(model, GuardedModel)
    model.speed.record_answer(100, seconds)
    calls = list[str]()

    async def work(task: str) -> None:
        async with hold_for_task(model):
            for _ in range(2):
                calls.append(task)
                await asyncio.sleep(0)

    await asyncio.gather(work("a"), work("b"))

    assert "".join(calls) == made


async def test_retry_after_holds_every_call_to_that_endpoint(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    fault = Fault(kind="rate_limited", nth=(1,), retry_after="0.4")
    endpoint.load_scenario(Scenario(faults=(fault,)))
    settings = replace(model_settings, max_tries=2, max_concurrency=1)

    await make_calls(settings, 6)

    refused, *later = endpoint.requests
    assert len(later) == 6
    assert min(call.began_s for call in later) >= (refused.ended_s or 0.0) + 0.35


async def test_callers_that_waited_go_at_least_ten_milliseconds_apart_on_a_busy_loop() -> None:
    gate, moments = RetryAfter(), []
    gate.block(0.02)

    async def pass_it() -> None:
        await gate.wait()
        moments.append(time.monotonic())

    async def keep_the_loop_busy() -> None:
        for _ in range(4):
            await asyncio.sleep(0.02)
            time.sleep(0.05)  # noqa: ASYNC251

    await asyncio.gather(keep_the_loop_busy(), *(pass_it() for _ in range(12)))

    assert all(b - a >= 0.01 for a, b in itertools.pairwise(moments))


async def test_a_retry_keeps_its_distance_also_when_the_gate_is_open() -> None:
    gate, moments = RetryAfter(), []

    async def retry() -> None:
        await gate.wait(is_staggered=True)
        moments.append(time.monotonic())

    await asyncio.gather(*(retry() for _ in range(5)))

    assert all(b - a >= 0.01 for a, b in itertools.pairwise(moments))


@pytest.mark.parametrize("retry_after", ["3600", "259200", "date:3600"])
async def test_a_wait_beyond_the_deadline_fails_at_once_and_says_when_to_come_back(
    endpoint: Endpoint, model_settings: ModelSettings, retry_after: str
) -> None:
    fault = Fault(kind="rate_limited", nth=(1,), retry_after=retry_after)
    endpoint.load_scenario(Scenario(faults=(fault,)))
    settings = replace(model_settings, max_tries=5)

    first, second = await make_calls(settings, 1), await make_calls(settings, 1)

    assert isinstance(first[0], RateLimited)
    assert "try again in" in first[0].format_line()
    assert isinstance(second[0], RateLimited)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("retry_after", ["soon", "-5", "nan", "0", "date:-60", None])
async def test_a_useless_retry_after_leaves_us_to_our_own_backoff(
    endpoint: Endpoint, model_settings: ModelSettings, retry_after: str | None
) -> None:
    fault = Fault(kind="rate_limited", nth=(1,), retry_after=retry_after)
    endpoint.load_scenario(Scenario(faults=(fault,)))

    answered = await make_calls(replace(model_settings, max_tries=2), 1)

    assert not isinstance(answered[0], BaseException)
    assert len(endpoint.requests) == 2


async def test_waiting_in_our_own_queue_is_not_charged_to_the_endpoint(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(latency_s={"*": 0.1}))
    settings = replace(model_settings, max_concurrency=1, call_timeout_s=0.6)

    answered = await make_calls(settings, 8)

    assert not [found for found in answered if isinstance(found, BaseException)]


async def test_no_period_sees_more_requests_than_its_limit() -> None:
    rates = LocalRates(RateLimits(requests=5, period_s=0.1))

    moments = list[float]()
    for _ in range(18):
        await rates.take(1)
        moments.append(time.monotonic())

    assert all(
        later - earlier >= 0.09 for earlier, later in zip(moments, moments[5:], strict=False)
    )


async def test_a_request_over_the_whole_limit_waits_for_an_empty_window_and_goes() -> None:
    rates = LocalRates(RateLimits(tokens=10, period_s=0.05))

    async with asyncio.timeout(5):
        await rates.take(1)
        await rates.take(1_000_000)


async def test_requests_and_tokens_per_minute_reach_the_endpoint_in_time() -> None:
    rates = LocalRates(RateLimits(requests=4, tokens=100, period_s=0.2))
    limits = EndpointLimits(max_concurrency=100, rates=rates)
    moments: list[float] = []

    async def one() -> None:
        async with limits.acquire_slot(50):
            moments.append(asyncio.get_running_loop().time())

    await asyncio.gather(*(one() for _ in range(8)))

    assert all(later - earlier >= 0.1 for earlier, later in zip(moments, moments[2:], strict=False))


async def test_a_cancelled_waiter_gives_its_place_back() -> None:
    limits = EndpointLimits(max_concurrency=1)
    entered = asyncio.Event()

    async def hold() -> None:
        async with limits.acquire_slot():
            entered.set()
            await asyncio.Event().wait()

    holder = asyncio.create_task(hold())
    await entered.wait()
    waiter = asyncio.create_task(hold())
    await asyncio.sleep(0)
    waiter.cancel()
    holder.cancel()
    await asyncio.gather(holder, waiter, return_exceptions=True)

    async with asyncio.timeout(5), limits.acquire_slot():
        pass


async def test_a_cancel_that_comes_with_the_turn_passes_the_turn_on() -> None:
    slots, entered = CrossLoopSemaphore(1), []

    async def enter(name: str) -> None:
        async with slots:
            entered.append(name)
            await asyncio.sleep(0)

    async with slots:
        second, third = asyncio.create_task(enter("second")), asyncio.create_task(enter("third"))
        await asyncio.sleep(0)
    second.cancel()
    async with asyncio.timeout(5):
        await asyncio.gather(second, third, return_exceptions=True)

    assert entered == ["third"]


def run_in_loops(number: int, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run the same work in several threads, each with a loop of its own."""
    threads = [threading.Thread(target=asyncio.run, args=[work()]) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_calls_in_flight_are_counted_over_all_loops_of_the_process() -> None:
    with Endpoint(Scenario(latency_s={"*": 0.02})).run_in_thread() as endpoint:
        settings = ModelSettings(
            fast="openai:gpt-5-mini", base_url=endpoint.base_url, api_key="sk-x", max_concurrency=3
        )

        async def call() -> None:
            await make_calls(settings, 8)

        run_in_loops(4, call)

        assert endpoint.max_in_flight == 3
        assert len(endpoint.requests) == 32


def test_a_rate_and_a_closed_gate_hold_in_all_loops_of_the_process() -> None:
    rates = LocalRates(RateLimits(requests=4, period_s=0.1))
    gate, began_s = RetryAfter(), time.monotonic()
    gate.block(0.1)
    moments: list[float] = []

    async def take() -> None:
        await gate.wait()
        for _ in range(4):
            await rates.take(1)
            moments.append(time.monotonic())

    run_in_loops(3, take)

    moments.sort()
    assert moments[0] >= began_s + 0.1
    assert all(
        later - earlier >= 0.09 for earlier, later in zip(moments, moments[4:], strict=False)
    )


def test_a_loop_that_is_closed_holds_back_no_call_of_another_one() -> None:
    gate, loop = RetryAfter(), asyncio.new_event_loop()
    gate.block(0.05)
    left = gate.wait()
    task = loop.create_task(left)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()

    async def pass_it() -> None:
        async with asyncio.timeout(5):
            await gate.wait(is_staggered=True)

    asyncio.run(pass_it())

    assert not task.done() and not gate.get_blocked_s()
    left.close()


def test_a_turn_that_is_given_back_without_a_loop_goes_to_who_waits_for_it() -> None:
    slots, loop = CrossLoopSemaphore(1), asyncio.new_event_loop()

    async def enter() -> None:
        async with slots:
            await asyncio.sleep(0)

    left = enter()
    left.send(None)
    waiting = loop.create_task(enter())
    loop.run_until_complete(asyncio.sleep(0))

    left.close()

    loop.run_until_complete(asyncio.wait_for(waiting, timeout=5.0))
    loop.close()


async def test_a_shorter_retry_after_does_not_open_the_gate_earlier() -> None:
    gate = RetryAfter()

    gate.block(100)
    gate.block(1)

    assert gate.get_blocked_s() > 90


async def test_a_task_waits_for_no_slot_beyond_its_time_and_not_for_its_own(
    model_settings: ModelSettings,
) -> None:
    model = ModelCatalog(replace(model_settings, max_concurrency=1)).get_chat_model("strong")
    assert isinstance(model, GuardedModel)
    model.speed.record_answer(100, 60.0)

    async with hold_for_task(model):
        async with hold_for_task(model):  # of a run that a tool of the task has started
            pass
        waiting = asyncio.create_task(_enter(model), context=contextvars.Context())
        assert await asyncio.wait_for(waiting, timeout=5.0)


async def _enter(model: GuardedModel) -> bool:
    async with hold_for_task(model, left_s=0.01):
        return True
