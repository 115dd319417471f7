"""The breaker opens after repeated failures; retries stay a tenth of the calls."""

import asyncio
from dataclasses import replace

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda

from graph.stores.errors import ThreadTaken
from nodes.errors import EndpointDown, EndpointFailed, SupervisorError
from nodes.limits.run_scope import SCOPE_KEY, RunScope
from nodes.models.catalog import ModelCatalog
from nodes.models.circuit_breaker import (
    FAILURE_THRESHOLD,
    FORGET_AFTER_S,
    MIN_RETRIES,
    OPEN_S,
    CircuitBreaker,
    RetryBudget,
    find_address,
    get_model_health,
)
from nodes.models.settings import ModelSettings
from tests.endpoint import Endpoint, Fault, Scenario

pytestmark = pytest.mark.slow

WHO = "openai:gpt-5-mini"


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(clock)


def record_failures(breaker: CircuitBreaker, clock: Clock, times: int) -> list[bool]:
    opened = []
    for _ in range(times):
        clock.now_s += 1
        opened.append(breaker.record_failure(clock.now_s, "503"))
    return opened


def test_consecutive_failures_open_the_circuit_and_the_last_of_them_reports_it(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    assert record_failures(breaker, clock, FAILURE_THRESHOLD) == [False] * (
        FAILURE_THRESHOLD - 1
    ) + [True]

    with pytest.raises(EndpointDown) as refused:
        breaker.admit(object(), WHO)

    line = refused.value.format_line()
    assert line.startswith("error[ENDPOINT_DOWN] circuit open for openai:gpt-5-mini")
    assert "since " in line
    assert "503" in line
    assert f"next: it is retried in {OPEN_S:.0f} s" in line
    assert not refused.value.retryable


def test_a_success_resets_the_failure_count(breaker: CircuitBreaker, clock: Clock) -> None:
    for _ in range(4):
        record_failures(breaker, clock, FAILURE_THRESHOLD - 1)
        breaker.record_answer(clock.now_s)

    assert breaker.admit(object(), WHO) == 0.0


def test_concurrent_failures_during_one_outage_count_as_one(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    began_s = clock.now_s
    clock.now_s += 1

    for _ in range(20):
        breaker.record_failure(began_s, "503")

    assert breaker.failures == 1


def test_each_failure_makes_those_who_come_next_pause_a_little_longer(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    pauses = []
    for _ in range(FAILURE_THRESHOLD - 1):
        record_failures(breaker, clock, 1)
        pauses.append(breaker.admit(object(), WHO))

    assert pauses[:4] == sorted(pauses[:4])
    assert 0 < pauses[0] <= 0.25
    assert 1 <= pauses[-1] <= 2


def test_after_a_while_one_probe_goes_and_the_others_are_refused_until_it_is_answered(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    record_failures(breaker, clock, FAILURE_THRESHOLD)
    clock.now_s += OPEN_S
    probe = object()

    assert breaker.admit(probe, WHO) == 0.0
    with pytest.raises(EndpointDown, match="since"):
        breaker.admit(object(), WHO)
    breaker.record_answer(clock.now_s)

    assert breaker.admit(object(), WHO) == 0.0


def test_a_probe_that_fails_keeps_it_open_and_one_that_is_cancelled_makes_room(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    record_failures(breaker, clock, FAILURE_THRESHOLD)
    clock.now_s += OPEN_S
    cancelled, second = object(), object()

    breaker.admit(cancelled, WHO)
    breaker.release_probe(cancelled)
    assert breaker.admit(second, WHO) == 0.0
    assert not breaker.record_failure(clock.now_s, "503")

    with pytest.raises(EndpointDown):
        breaker.admit(object(), WHO)


def test_what_failed_before_it_opened_does_not_keep_it_open_longer(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    record_failures(breaker, clock, FAILURE_THRESHOLD - 1)
    long_under_way_s = clock.now_s
    record_failures(breaker, clock, 1)

    clock.now_s += OPEN_S
    breaker.record_failure(long_under_way_s, "timed out")

    assert breaker.admit(object(), WHO) == 0.0


def test_old_failures_are_forgotten(breaker: CircuitBreaker, clock: Clock) -> None:
    record_failures(breaker, clock, FAILURE_THRESHOLD - 1)

    clock.now_s += FORGET_AFTER_S + 1
    record_failures(breaker, clock, 1)

    assert breaker.failures == 1


def test_retries_are_a_tenth_of_the_calls_and_those_that_helped_are_given_back() -> None:
    budget = RetryBudget()
    for _ in range(100):
        budget.count_call()

    assert [budget.take_retry() for _ in range(11)] == [True] * 10 + [False]
    budget.refund_retries(2)
    assert [budget.take_retry() for _ in range(3)] == [True, True, False]


def test_a_call_waits_for_a_retry_permit_while_another_retry_is_in_flight() -> None:
    budget = RetryBudget()
    budget.count_call()

    assert not budget.is_worth_waiting()
    budget.take_retry()
    assert budget.is_worth_waiting()
    budget.finish_retry()
    assert not budget.is_worth_waiting()


def test_a_single_call_may_still_be_retried() -> None:
    budget = RetryBudget()
    budget.count_call()

    assert [budget.take_retry() for _ in range(MIN_RETRIES + 1)] == [True] * MIN_RETRIES + [False]


async def make_calls(settings: ModelSettings, number: int) -> list[object]:
    model = ModelCatalog(settings).get_chat_model("fast")
    calls = (model.ainvoke([HumanMessage("hello")]) for _ in range(number))
    return list(await asyncio.gather(*calls, return_exceptions=True))


def count_failures(settings: ModelSettings) -> int:
    return get_model_health(f"openai {settings.base_url}", WHO).breaker.failures


async def test_an_outage_costs_no_more_calls_than_the_threshold_and_those_in_flight(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind="server_error"),)))
    settings = replace(model_settings, max_tries=4, max_concurrency=8, call_timeout_s=30)

    answered = await make_calls(settings, 60)

    assert all(isinstance(error, EndpointFailed | EndpointDown) for error in answered)
    assert len(endpoint.requests) <= FAILURE_THRESHOLD + 8
    assert sum(isinstance(error, EndpointDown) for error in answered) >= 60 - FAILURE_THRESHOLD - 8


async def test_a_moments_outage_is_waited_for_and_fails_nobody(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    faults = (Fault(kind="server_error", nth=tuple(range(1, 19))),)
    endpoint.load_scenario(Scenario(faults=faults))
    settings = replace(model_settings, max_tries=4, max_concurrency=16, call_timeout_s=30)

    answered = await make_calls(settings, 16)

    assert not [found for found in answered if isinstance(found, BaseException)]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind="rate_limited", retry_after="0.01"),
        Fault(kind="rate_limited"),
        Fault(kind="quota"),
        Fault(kind="context_length"),
        Fault(kind="unauthorized"),
        Fault(kind="unknown_model"),
        Fault(kind="content_filter"),
        Fault(kind="length"),
        Fault(kind="null_content"),
        Fault(kind="server_error", status=409),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.retry_after or ''}",
)
async def test_an_endpoint_that_answers_is_healthy_whatever_the_answer(
    endpoint: Endpoint, model_settings: ModelSettings, fault: Fault
) -> None:
    endpoint.load_scenario(Scenario(faults=(fault,)))

    (error,) = await make_calls(model_settings, 1)

    assert isinstance(error, SupervisorError)
    assert count_failures(model_settings) == 0


@pytest.mark.parametrize(
    "kind",
    ["server_error", "reset", "half_body", "html", "empty", "no_finish", "error_in_200", "hang"],
)
async def test_an_endpoint_that_fails_is_silent_or_unintelligible_counts_as_failed(
    endpoint: Endpoint, model_settings: ModelSettings, kind: str
) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind=kind),)))  # type: ignore[arg-type]

    (error,) = await make_calls(replace(model_settings, call_timeout_s=0.5), 1)

    assert isinstance(error, SupervisorError)
    assert count_failures(model_settings) == 1


async def test_a_pause_that_a_call_has_no_time_for_ends_it_at_once(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind="server_error"),)))
    await make_calls(model_settings, 1)

    (error,) = await make_calls(replace(model_settings, call_timeout_s=0.1), 1)

    assert isinstance(error, EndpointDown)
    assert len(endpoint.requests) == 1


async def test_a_cancelled_call_says_nothing_about_the_endpoint(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    hangs = Fault(kind="hang", nth=tuple(range(1, FAILURE_THRESHOLD + 3)))
    endpoint.load_scenario(Scenario(faults=(hangs,)))
    model = ModelCatalog(model_settings).get_chat_model("fast")

    for number in range(1, FAILURE_THRESHOLD + 3):
        call = asyncio.create_task(model.ainvoke("hello"))
        await endpoint.wait_for_calls(number)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

    assert (await model.ainvoke("hello")).content


async def test_an_address_whose_models_all_fail_gets_no_more_requests_than_the_threshold(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind="server_error"),)))
    models = ModelCatalog(replace(model_settings, standard="openai:third", max_tries=4))

    errors = []
    for tier in ("strong", "standard", "fast", "strong", "standard", "fast"):
        with pytest.raises((EndpointFailed, EndpointDown)) as failed:
            await models.get_chat_model(tier).ainvoke("hello")
        errors.append(failed.value)

    assert len(endpoint.requests) == FAILURE_THRESHOLD
    assert f"all models at {(model_settings.base_url or '').removesuffix('/v1')}" in str(errors[-1])
    assert len({call.model for call in endpoint.requests}) == 3


def test_one_model_alone_does_not_open_the_circuit_of_its_address(clock: Clock) -> None:
    address = CircuitBreaker(clock, min_models=2)
    for _ in range(2 * FAILURE_THRESHOLD):
        clock.now_s += 1
        address.record_failure(clock.now_s, "503", "first")

    assert address.admit(object(), "address") == 0.0
    assert not address.is_open()

    clock.now_s += 1
    assert address.record_failure(clock.now_s, "503", "second")
    assert address.is_open()


def test_an_answer_of_one_model_closes_the_circuit_of_the_address(clock: Clock) -> None:
    address = CircuitBreaker(clock, min_models=2)
    for model in ("first", "second") * FAILURE_THRESHOLD:
        clock.now_s += 1
        address.record_failure(clock.now_s, "503", model)

    address.record_answer(clock.now_s)

    assert not address.is_open()
    assert not address.is_nearly_open()


@pytest.mark.parametrize(
    ("endpoint_name", "address"),
    [
        ("openai http://gateway:4000/v1", "http://gateway:4000"),
        ("anthropic http://user:secret@Gateway:4000/other", "http://gateway:4000"),
        ("openai https://gateway:4000/v1", "https://gateway:4000"),
        ("openai ", "openai"),
        ("google_genai", "google_genai"),
        ("fakechat 3", "fakechat 3"),
    ],
)
def test_an_address_is_scheme_host_and_port_of_an_endpoint(
    endpoint_name: str, address: str
) -> None:
    assert find_address(endpoint_name) == address


async def test_a_call_that_ends_before_its_probe_is_sent_lets_another_be_the_probe(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    breaker = get_model_health(f"openai {model_settings.base_url}", WHO).breaker
    breaker.adopt(0.0, "503")
    call = ModelCatalog(model_settings).get_chat_model("fast")
    taken = ThreadTaken("thread", is_same_run=False)

    async def refuse() -> None:
        raise taken

    async def ask(words: str) -> object:
        return await call.ainvoke([HumanMessage(words)])

    scope = RunScope(began_at=0.0, confirm_writer=refuse)
    with pytest.raises(ThreadTaken):
        await RunnableLambda(ask).ainvoke("hello", {"configurable": {SCOPE_KEY: scope}})

    assert (await call.ainvoke([HumanMessage("hello")])).content


async def test_of_two_models_at_one_endpoint_only_the_dead_one_is_refused(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(faults=(Fault(kind="server_error", model="gpt-5-mini"),)))
    models = ModelCatalog(model_settings)

    for _ in range(FAILURE_THRESHOLD):
        with pytest.raises(EndpointFailed):
            await models.get_chat_model("fast").ainvoke("hello")

    with pytest.raises(EndpointDown):
        await models.get_chat_model("fast").ainvoke("hello")
    assert (await models.get_chat_model("strong").ainvoke("hello")).content
