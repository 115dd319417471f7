"""Budgets of tokens and money end in an answer, and are never overrun by more than one call."""

from typing import Any

import pytest

from graph import build_supervisor
from nodes.errors import BudgetSpent, SettingsInvalid
from nodes.limits.budget import Budget
from state import Usage
from tests.endpoint import Endpoint, Fault, ScriptedTask, script_tasks
from tests.runs import GIVEN, THREAD, Runs
from tests.teams import make_team

CHAIN: dict[str, tuple[str, ...]] = {f"t{n}": ((f"t{n - 1}",) if n else ()) for n in range(12)}


async def test_a_budget_of_tokens_ends_in_a_partial_answer(runs: Runs, graph):
    runs.script(*script_tasks(CHAIN))

    state = await graph.ainvoke(GIVEN, THREAD, context={"max_tokens": 8_000})

    spent = state["usage"].input_tokens + state["usage"].output_tokens
    done = [name for name, report in state["results"].items() if report.status == "completed"]
    assert state["status"] == "partial"
    assert spent <= 8_000
    assert 0 < len(done) < len(CHAIN)
    assert any("budget" in gap for gap in state["answer"].gaps)


async def test_a_team_has_a_budget_of_its_own_and_a_run_may_set_another(runs: Runs):
    runs.script(*script_tasks({"a": ()}))
    graph = runs.build_graph(make_team(max_tokens=0))

    with pytest.raises(BudgetSpent):
        await graph.ainvoke(GIVEN)
    state = await graph.ainvoke(GIVEN, context={"max_tokens": 1_000_000})

    assert state["status"] == "done"


async def test_a_team_has_a_deadline_of_its_own_and_a_run_may_set_another(runs: Runs):
    runs.script(*script_tasks({"a": ()}))
    team = make_team(deadline_s=0)

    late = await runs.run("Compare the parts.", team=team, thread="one")
    resumed = await runs.resume("one", context={"deadline_s": 60})

    assert late.error is not None and late.error.code == "DEADLINE_PASSED"
    assert resumed.status == "done"


def test_a_call_without_room_says_what_the_rest_of_the_budget_is_kept_for():
    budget = Budget(max_cost_usd=0.01)
    budget.charge(Usage(cost_usd=0.0051))

    with (
        budget.reserve_call(100, 0.002, is_last=False),
        pytest.raises(BudgetSpent) as refused,
        budget.reserve_call(100, 0.003, is_last=False),
    ):
        pass

    assert str(refused.value) == (
        "the budget has no room for another call: 0.0051 of 0.0100 USD spent, "
        "0.0020 reserved for calls in flight, 0.0015 reserved for the answer, "
        "0.0030 expected for the call"
    )


NEAR: dict[str, tuple[Any, ...]] = {
    **{name: CHAIN[name] for name in list(CHAIN)[:8]},
    "spare": ("t7",),
    "last": ("t7", {"task": "spare", "required": False}),
}


async def test_near_the_end_of_a_budget_models_are_cheap_and_the_dispensable_is_left_out(
    runs: Runs,
):
    result: list[dict[str, Any]] = []
    runs.script(*script_tasks(NEAR))
    graph = runs.build_graph()

    async for _, event in graph.astream(
        GIVEN, context={"max_tokens": 7_400}, stream_mode="custom", subgraphs=True
    ):
        result.append(event)

    (warning,) = [event for event in result if event["kind"] == "budget"]
    skipped = [event for event in result if event["kind"] == "task_skipped"]
    tiers = {event["task"]: event["tier"] for event in result if event["kind"] == "task_started"}
    answer = result[-1]
    assert warning["level"] == "low"
    assert [event["task"] for event in skipped] == ["spare"]
    assert "can do without" in skipped[0]["reason"]
    assert (tiers["t7"], tiers["last"]) == ("standard", "fast")
    assert answer["status"] == "partial"


UNPRICED = {f"model_{tier}": "openai:model-of-no-list" for tier in ("fast", "standard", "strong")}


async def test_a_cap_on_money_without_a_price_is_refused_before_any_call(runs: Runs, graph):
    runs.script(*script_tasks(CHAIN), models=("model-of-no-list",))

    with pytest.raises(SettingsInvalid, match="openai:model-of-no-list") as raised:
        await graph.ainvoke(GIVEN, THREAD, context={"max_cost_usd": 1.0, **UNPRICED})

    assert "max-tokens" in raised.value.next and "SUPERVISE_PRICES" in raised.value.next
    assert not runs.requests


async def test_a_token_cap_holds_for_a_model_without_a_price(runs: Runs, graph):
    runs.script(*script_tasks(CHAIN), models=("model-of-no-list",))
    context = {"max_cost_usd": 1.0, "max_tokens": 8_000, **UNPRICED}

    state = await graph.ainvoke(GIVEN, THREAD, context=context)

    assert state["status"] == "partial"
    assert state["usage"].input_tokens + state["usage"].output_tokens <= 8_000


async def test_a_price_of_ones_own_is_billed_and_held(runs: Runs):
    runs.script(*script_tasks(CHAIN), models=("model-of-no-list",))
    priced = runs.settings.model_copy(update={"prices": {"openai:model-of-no-list": (1.0, 10.0)}})
    graph = build_supervisor(make_team(), settings=priced)

    state = await graph.ainvoke(GIVEN, context={"max_cost_usd": 0.02, **UNPRICED})

    bill = state["usage"]
    assert state["status"] == "partial"
    assert bill.cost_usd == pytest.approx((bill.input_tokens + 10 * bill.output_tokens) / 1e6)
    assert 0 < bill.cost_usd <= 0.02


PAIR = script_tasks({"a": (), "b": ()})
FAILED = {"status": "failed", "output": "no figure to be found"}
FINE = {"output": "Part a costs 42 euros."}


def count_endpoint_tokens(endpoint: Endpoint, schema: str | None = None) -> int:
    """Count input tokens as the endpoint counts them."""
    return sum(
        call.body_bytes // 4 for call in endpoint.select_calls(schema=schema) if not call.fault
    )


async def test_a_refinement_that_cannot_be_read_is_billed(runs: Runs):
    task = ScriptedTask(id="a", report=[FAILED, FINE])
    runs.script(task, answers={"Refinement": "no idea"})

    outcome = await runs.run()

    assert len(runs.select_calls(schema="Refinement")) == 3  # in words it is asked for again
    assert outcome.usage.model_calls == len(runs.requests) - 2
    assert outcome.usage.input_tokens == count_endpoint_tokens(runs.endpoint)


@pytest.mark.slow
async def test_an_answer_that_was_cut_is_billed_with_the_one_that_was_not(runs: Runs):
    cut = Fault(kind="length", schema="Report", task="a", nth=(1,))
    lost = Fault(kind="length", schema="Report", task="b")
    runs.script(*PAIR, faults=(cut, lost))

    outcome = await runs.run()

    seen = sum(call.body_bytes // 4 for call in runs.requests)
    assert outcome.usage.input_tokens == seen


async def test_summaries_leave_the_share_that_is_kept_for_the_answer(runs: Runs):
    long = {"output": "Part costs 42 euros. " * 800, "claims": []}
    tasks = tuple(ScriptedTask(id=name, report=long) for name in "abcdef")
    runs.script(*tasks)
    graph = runs.build_graph(make_team(max_synthesis_chars=2_000))
    spent = (await graph.ainvoke(GIVEN))["usage"]
    cap = int((spent.input_tokens + spent.output_tokens) * 0.97)

    state = await graph.ainvoke(GIVEN, context={"max_tokens": cap})

    gaps = " ".join(state["answer"].gaps)
    assert "not summarised: the budget has no room" in gaps
    assert "synthesis failed" not in gaps
    assert state["answer"].text.startswith("The answer, from a.md")


def test_an_answer_that_is_of_no_use_leaves_less_for_the_next_try():
    run = Budget(max_tokens=1000)
    team = Budget(parent=run)

    with team.reserve_call(100, None, is_last=False) as hold_more:
        hold_more(600, None)
        with pytest.raises(BudgetSpent):
            hold_more(600, None)
        in_flight = run.tokens

    assert in_flight == 700
    assert (team.tokens, run.tokens) == (0, 0)
