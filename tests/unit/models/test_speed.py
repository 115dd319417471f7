"""Default limits in seconds follow the measured speed of the model."""

import asyncio
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from graph import build_supervisor
from graph.settings import Settings
from nodes.models.call import ModelCall
from nodes.models.catalog import ModelCatalog
from nodes.models.guarded_model import GuardedModel
from nodes.models.run_context import RunContext
from nodes.models.settings import ModelSettings
from nodes.models.usage import ModelSpeed
from nodes.schemas.team import Limits, TeamLimits
from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.teams import make_team


def test_the_speed_is_the_median_of_the_last_answers_long_enough_to_measure() -> None:
    speed = ModelSpeed()

    speed.record_answer(5, 10.0)
    assert (speed.tokens_per_s, speed.limit_factor) == (None, 1.0)
    for seconds in (10.0, 20.0, 1.0):
        speed.record_answer(100, seconds)
    assert (speed.tokens_per_s, speed.limit_factor) == (10.0, 3.0)
    for _ in range(9):
        speed.record_answer(100, 1.0)
    assert (speed.tokens_per_s, speed.limit_factor) == (100.0, 1.0)
    for _ in range(9):
        speed.record_answer(100, 1000.0)
    assert speed.limit_factor == 20.0


def test_an_answer_from_a_cached_prompt_counts_only_until_a_prompt_was_read() -> None:
    speed = ModelSpeed()

    speed.record_answer(100, 1.0, has_read_little=True)
    assert speed.tokens_per_s == 100.0
    speed.record_answer(100, 10.0)
    for seconds in (1.0, 1.0, 50.0):
        speed.record_answer(100, seconds, has_read_little=True)
    assert speed.tokens_per_s == 10.0
    for _ in range(3):
        speed.record_timeout()
    for _ in range(9):
        speed.record_answer(100, 1.0, has_read_little=True)
    assert speed.limit_factor == 1.0


def test_each_call_without_an_answer_in_time_gives_the_next_more() -> None:
    speed = ModelSpeed()
    factors = []

    for _ in range(3):
        speed.record_timeout()
        factors.append(speed.limit_factor)

    assert factors == sorted(factors) and factors[0] == 2.0


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        (Limits(), 600.0),
        (Limits(max_turns=3), 600.0),
        (Limits(timeout_s=90.0), 450.0),
        (TeamLimits(max_turns=3), 3000.0),
        (TeamLimits(timeout_s=600.0), 3000.0),
    ],
)
def test_a_timeout_is_longer_for_a_slow_model_and_never_shorter(
    limits: Limits, seconds: float
) -> None:
    assert limits.scale_timeout(5.0).timeout_s == seconds
    assert limits.scale_timeout(0.5) is limits


def build_call(model: GuardedModel) -> ModelCall:
    return ModelCall(model, RunContext())


async def test_answers_of_an_endpoint_are_measured_and_change_the_next_calls_time() -> None:
    async def answer(request: web.Request) -> web.Response:
        await asyncio.sleep(0.4)
        message = {"role": "assistant", "content": "word " * 40}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 9, "completion_tokens": 40, "total_tokens": 49}
        return web.json_response({"model": "m", "choices": [choice], "usage": usage})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    async with TestServer(app) as server:
        address = str(server.make_url("/v1"))
        open_limit = ModelSettings(fast="openai:m", base_url=address, api_key="sk-0123456789")
        model = ModelCatalog(open_limit).get_chat_model("fast")
        assert isinstance(model, GuardedModel)
        assert build_call(model).timeout_s == 120.0
        await model.ainvoke("Is it so?")

    assert model.speed.tokens_per_s == pytest.approx(80, rel=0.5)
    model.speed.record_answer(100, 50.0)
    model.speed.record_answer(100, 50.0)
    assert build_call(model).timeout_s == 120.0 * 15
    set_limit = ModelCatalog(
        ModelSettings(fast="openai:m", base_url=address, call_timeout_s=7.0)
    ).get_chat_model("fast")
    assert isinstance(set_limit, GuardedModel)
    assert build_call(set_limit).timeout_s == 7.0


def test_a_call_timeout_of_the_environment_is_kept_though_it_equals_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Settings().build_model_settings().call_timeout_s is None
    monkeypatch.setenv("SUPERVISE_CALL_TIMEOUT_S", "120")

    assert Settings().build_model_settings().call_timeout_s == 120.0


async def test_a_run_says_once_for_each_model_that_its_limits_are_longer(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": (), "b": ()}, worker="researcher")))
    slow = ModelCatalog(settings.build_model_settings()).get_chat_model("standard")
    assert isinstance(slow, GuardedModel)
    for _ in range(9):
        slow.speed.record_answer(50, 10.0)
    graph = build_supervisor(make_team(), settings=settings)
    events: list[dict[str, Any]] = []

    stream = graph.astream(
        {"request": "Name the figures of a and b"}, stream_mode="custom", subgraphs=True
    )
    async for _, event in stream:
        events.append(event)

    (said,) = [event for event in events if event["kind"] == "limits_scaled"]
    assert said["model"] == "openai:gpt-5-mini"
    assert (said["tokens_per_s"], said["factor"], said["timeouts"]) == (5.0, 6.0, 0)
    limits = [event["handoff"]["timeout_s"] for event in events if event["kind"] == "task_started"]
    assert limits == [720.0, 720.0]
