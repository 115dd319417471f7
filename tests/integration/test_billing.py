"""What was spent in vain is billed all the same; what is kept for the answer is for the answer."""

from typing import Any

import pytest

from graph import arun, build_supervisor
from graph.settings import Settings
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, script_tasks
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."
PAIR = script_tasks({"a": (), "b": ()})
FAILED = {"status": "failed", "output": "no figure to be found"}
NO_PLAN = {"goal": "g", "tasks": []}
FINE = {"output": "Part a costs 42 euros."}


async def run_request(settings: Settings, **options: Any) -> Any:
    return await arun(
        REQUEST, team=make_team(**options.pop("fields", {})), settings=settings, **options
    )


def count_endpoint_tokens(endpoint: Endpoint, schema: str | None = None) -> int:
    """Count input tokens as the endpoint counts them."""
    return sum(
        call.body_bytes // 4 for call in endpoint.select_calls(schema=schema) if not call.fault
    )


async def test_a_refinement_that_cannot_be_read_is_billed(
    endpoint: Endpoint, settings: Settings
) -> None:
    task = ScriptedTask(id="a", report=[FAILED, FINE])
    endpoint.load_scenario(Scenario(tasks=(task,), answers={"Refinement": "no idea"}))

    outcome = await run_request(settings)

    assert len(endpoint.select_calls(schema="Refinement")) == 3  # in words it is asked for again
    assert outcome.usage.model_calls == len(endpoint.requests) - 2
    assert outcome.usage.input_tokens == count_endpoint_tokens(endpoint)


async def test_a_revision_that_comes_to_nothing_is_billed(
    endpoint: Endpoint, settings: Settings
) -> None:
    upset = ScriptedTask(id="a", report={**FINE, "found_as_expected": False})
    tasks = (upset, ScriptedTask(id="b", depends_on=("a",)))
    review = {"makes_sense": False, "reason": "There is no part b."}
    answers = {"Plan": [Scenario(tasks=tasks).build_plan(), NO_PLAN], "PlanReview": review}
    endpoint.load_scenario(Scenario(tasks=tasks, answers=answers))

    outcome = await run_request(settings, fields={"max_plan_repairs": 1})

    assert len(endpoint.select_calls(schema="Plan")) == 3
    assert outcome.usage.model_calls == len(endpoint.requests)
    assert outcome.usage.input_tokens == count_endpoint_tokens(endpoint)


async def test_a_run_by_rule_says_what_the_plans_before_its_own_cost(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(answers={"Plan": NO_PLAN}))

    outcome = await run_request(settings, fields={"max_plan_repairs": 1})

    assert outcome.exit_code == 3
    assert len(endpoint.select_calls(schema="Plan")) == 2
    assert outcome.usage.model_calls == len(endpoint.requests)
    assert outcome.usage.input_tokens == count_endpoint_tokens(endpoint)


@pytest.mark.slow
async def test_an_answer_that_was_cut_is_billed_with_the_one_that_was_not(
    endpoint: Endpoint, settings: Settings
) -> None:
    cut = Fault(kind="length", schema="Report", task="a", nth=(1,))
    lost = Fault(kind="length", schema="Report", task="b")
    endpoint.load_scenario(Scenario(tasks=PAIR, faults=(cut, lost)))

    outcome = await run_request(settings)

    seen = sum(call.body_bytes // 4 for call in endpoint.requests)
    assert outcome.usage.input_tokens == seen


async def test_summaries_leave_the_share_that_is_kept_for_the_answer(
    endpoint: Endpoint, settings: Settings
) -> None:
    long = {"output": "Part costs 42 euros. " * 800, "claims": []}
    tasks = tuple(ScriptedTask(id=name, report=long) for name in "abcdef")
    endpoint.load_scenario(Scenario(tasks=tasks))
    graph = build_supervisor(make_team(max_synthesis_chars=2_000), settings=settings)
    spent = (await graph.ainvoke({"request": REQUEST}))["usage"]
    cap = int((spent.input_tokens + spent.output_tokens) * 0.97)

    state = await graph.ainvoke({"request": REQUEST}, context={"max_tokens": cap})

    gaps = " ".join(state["answer"].gaps)
    assert "not summarised: the budget has no room" in gaps
    assert "synthesis failed" not in gaps
    assert state["answer"].text.startswith("The answer, from a.md")
