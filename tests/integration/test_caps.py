"""Caps of nothing, and caps that cannot be: an end at once, or one line, never a run without."""

import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from graph import arun, build_supervisor
from graph.runs.plan_only import aplan
from graph.runs.runner import aresume
from graph.settings import Settings
from nodes.errors import SettingsInvalid
from state import Context
from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."
AT_LEAST_ONE = ("max_tasks", "max_attempts", "max_concurrency")
AT_LEAST_NONE = ("deadline_s", "max_cost_usd", "max_tokens", "max_steps")


@pytest.fixture(autouse=True)
def scenario(endpoint: Endpoint) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": (), "B": ("A",)})))


async def run_on_thread(settings: Settings, context: Any) -> Any:
    return await arun(REQUEST, team=make_team(), settings=settings, context=context, thread="one")


async def run_graph(settings: Settings, context: Any) -> Any:
    graph = build_supervisor(make_team(), settings=settings)
    return await graph.ainvoke({"request": REQUEST}, context=context)


async def make_plan_only(settings: Settings, context: Any) -> Any:
    return await aplan(REQUEST, team=make_team(), settings=settings, context=context)


async def resume_thread(settings: Settings, context: Any) -> Any:
    return await aresume("one", settings=settings, context=context)


@pytest.mark.parametrize("door", [run_on_thread, run_graph, make_plan_only, resume_thread])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, 0) for name in AT_LEAST_ONE),
        *((name, -1) for name in AT_LEAST_ONE + AT_LEAST_NONE),
        ("deadline_s", math.nan),
        ("max_cost_usd", math.inf),
        ("max_tasks", "many"),
    ],
)
async def test_an_impossible_cap_is_refused_at_every_entry_point_before_any_call(
    endpoint: Endpoint,
    settings: Settings,
    door: Callable[[Settings, Any], Awaitable[Any]],
    name: str,
    value: Any,
) -> None:
    for given in ({name: value}, Context(**{name: value})):
        with pytest.raises(SettingsInvalid, match=f"^{name} in the context") as refused:
            await door(settings, given)

        assert refused.value.exit_code == 2
        assert refused.value.format_line().count("\n") == 0
    assert not endpoint.requests


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("deadline_s", "DEADLINE_PASSED"),
        ("max_cost_usd", "BUDGET_SPENT"),
        ("max_tokens", "BUDGET_SPENT"),
    ],
)
async def test_without_time_or_budget_not_even_a_plan_is_asked_for(
    endpoint: Endpoint, settings: Settings, name: str, code: str
) -> None:
    outcome = await run_on_thread(settings, {name: 0})

    assert outcome.error is not None and outcome.error.code == code
    assert (outcome.exit_code, endpoint.requests) == (3, [])
    assert (await aresume("one", settings=settings, context={name: 1_000_000})).status == "done"


async def test_without_steps_there_is_a_plan_and_an_answer_that_names_all_its_tasks(
    endpoint: Endpoint, settings: Settings
) -> None:
    outcome = await run_on_thread(settings, {"max_steps": 0})

    assert (outcome.status, outcome.exit_code) == ("partial", 3)
    assert [call.schema for call in endpoint.requests] == ["Plan"]
    assert [gap[:9] for gap in outcome.answer.gaps[:2]] == ["A was not", "B was not"]


async def test_a_cap_of_nothing_counts_for_a_run_that_is_resumed(
    endpoint: Endpoint, settings: Settings
) -> None:
    await run_on_thread(settings, {"max_steps": 1})
    before = len(endpoint.select_calls(schema="Report"))

    still = await aresume("one", settings=settings, context={"max_steps": 0})
    done = await aresume("one", settings=settings, context={"max_steps": 5})

    assert (before, still.status) == (1, "partial")
    assert done.status == "done"
    assert [call.task for call in endpoint.select_calls(schema="Report")] == ["A", "B"]


async def test_what_is_free_runs_under_a_budget_of_no_money(
    endpoint: Endpoint, settings: Settings
) -> None:
    free = settings.model_copy(
        update={"model_fast": "openai:local", "model_standard": "openai:local"}
        | {"model_strong": "openai:local", "prices": {"openai:local": (0.0, 0.0)}}
    )

    outcome = await run_on_thread(free, {"max_cost_usd": 0})

    assert outcome.status == "done"
    assert len(endpoint.requests) == 4
