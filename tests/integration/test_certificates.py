"""A run is held to the certificate that it is given; plans above a cost ask a human."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command

from graph import arun, build_supervisor
from graph.runs.plan_only import aplan_with_estimate
from graph.settings import Settings
from graph.topology.checkpointer_adapter import CheckpointerMissing
from nodes.errors import SettingsInvalid
from nodes.planning.certificates import CertificateRefused
from nodes.schemas.team import OwnTool, Team, Worker
from state import Plan
from tests.benchmarks.adversaries import build_tools
from tests.benchmarks.certificates import run_trials
from tests.endpoint import Scenario, script_tasks
from tests.runs import REQUEST, Runs, make_saver
from tests.teams import make_team, write_team

pytestmark = pytest.mark.needs("insight")
PAIR = Scenario(tasks=script_tasks({"a": (), "b": ("a",)}))


def make_config() -> Any:
    return {"configurable": {"thread_id": "one"}}


async def certify(runs: Runs, scenario: Scenario = PAIR, **how: Any) -> tuple[Plan, dict[str, Any]]:
    """Return the plan of the request and its certificate, as `--plan-only` prints it."""
    found: list[Any] = []
    runs.load_scenario(scenario)
    team = how.pop("team", make_team())
    plan, _ = await aplan_with_estimate(
        REQUEST, team=team, settings=runs.settings, on_certificate=found.append, **how
    )
    runs.requests.clear()
    return plan, found[0]


async def test_a_run_within_its_certificate_is_done(runs: Runs):
    plan, certificate = await certify(runs)
    seen: list[Any] = []
    how: Any = {"team": make_team(), "settings": runs.settings, "on_certificate": seen.append}

    outcome = await arun(REQUEST, plan=plan, context={"certificate": certificate}, **how)

    assert outcome.status == "done"
    assert outcome.usage.model_calls <= seen[0]["worst_case"]["model_calls"]
    assert seen[0]["plan_hash"] == certificate["plan_hash"]


async def test_a_run_of_another_plan_is_refused_in_one_line_before_a_worker_is_called(runs: Runs):
    _, certificate = await certify(runs)
    runs.script(*script_tasks({"a": (), "c": ()}))
    graph = runs.build_saved()

    with pytest.raises(CertificateRefused) as refused:
        await graph.ainvoke(
            {"request": REQUEST}, make_config(), context={"certificate": certificate}
        )

    line = refused.value.format_line()
    assert "the plan is another one" in line and "\n" not in line
    assert {call.schema for call in runs.requests} == {"Plan"}


async def test_a_finding_adds_no_task_to_a_run_that_is_held_and_a_gap_names_the_certificate(
    runs: Runs,
):
    failing = {"status": "failed", "output": "There is no such part.", "confidence": 0}
    tasks = script_tasks({"a": (), "b": ("a",)})
    scenario = replace(PAIR, tasks=(replace(tasks[0], report=failing), *tasks[1:]))
    plan, certificate = await certify(runs, scenario)
    how: Any = {"team": make_team(max_attempts=2), "settings": runs.settings, "plan": plan}

    outcome = await arun(REQUEST, context={"certificate": certificate}, **how)

    assert outcome.plan == plan and outcome.status in ("partial", "failed")
    assert set(outcome.results) == {"a", "b"}
    assert {call.schema for call in runs.requests} <= {"Report", "Refinement", "Answer"}
    assert outcome.answer is not None
    assert any("certificate" in gap for gap in outcome.answer.gaps)


async def test_the_caps_of_a_certificate_hold_although_the_run_sets_higher_ones(runs: Runs):
    tasks = script_tasks({f"t{n}": ((f"t{n - 1}",) if n else ()) for n in range(12)})
    chain = Scenario(tasks=tasks)
    plan, certificate = await certify(runs, chain, context={"max_tokens": 8_000})
    context = {"certificate": certificate, "max_tokens": 10_000_000}

    outcome = await runs.run(plan=plan, context=context)

    assert outcome.status == "partial" and outcome.answer is not None
    assert outcome.usage.input_tokens + outcome.usage.output_tokens <= 8_000
    assert any("certificate" in gap for gap in outcome.answer.gaps)


async def test_a_certificate_that_was_damaged_is_refused_before_anything_is_spent(runs: Runs):
    _, certificate = await certify(runs)
    context = {"certificate": {**certificate, "version": 7}}

    with pytest.raises(SettingsInvalid, match="certificate cannot be used"):
        await runs.run(context=context)

    assert not runs.requests


async def test_the_question_about_a_plan_has_its_certificate_and_an_edit_outside_is_refused(
    runs: Runs,
):
    plan, certificate = await certify(runs)
    runs.load_scenario(PAIR)
    graph = runs.build_saved(approve_plan=True)
    edited = plan.model_dump(mode="json") | {"tasks": plan.model_dump(mode="json")["tasks"][:1]}
    context: Any = {"certificate": certificate}

    asked = await graph.ainvoke({"request": REQUEST}, make_config(), context=context)
    again = await graph.ainvoke(Command(resume={"plan": edited}), make_config(), context=context)
    state = await graph.ainvoke(Command(resume="accept"), make_config(), context=context)

    value = asked["__interrupt__"][0].value
    assert value["certificate"]["plan_hash"] == certificate["plan_hash"]
    assert "at most" in value["description"]
    assert "certificate" in str(again["__interrupt__"][0].value["problems"])
    assert state["status"] == "done" and set(state["results"]) == {"a", "b"}


async def test_a_plan_that_is_edited_into_the_state_of_a_held_run_is_refused(runs: Runs):
    plan, certificate = await certify(runs)
    graph = runs.build_saved(approve_plan=True)
    await graph.ainvoke({"request": REQUEST}, make_config(), context={"certificate": certificate})
    smaller = plan.model_copy(update={"tasks": plan.tasks[:1]}).model_dump(mode="json")

    with pytest.raises(InvalidUpdateError, match="certificate"):
        await graph.aupdate_state(make_config(), {"plan": smaller})


@pytest.mark.parametrize(("above", "asks"), [(0.0, True), (100.0, False)])
async def test_a_cost_above_asks_on_a_thread_and_one_below_does_not(
    runs: Runs, above: float, asks: bool
):
    runs.load_scenario(PAIR)
    how: Any = {"settings": runs.settings, "thread": "one"}

    first = await arun(REQUEST, team=make_team(), context={"approve_above": above}, **how)
    ended = await runs.resume("one", answer="accept") if asks else first

    assert bool(first.questions) is asks
    assert ended.status == "done"


async def test_the_key_of_a_team_asks_for_a_plan_with_an_effect(runs: Runs):
    runs.script(*script_tasks({"a": ()}, worker="mailer"))
    tools = build_tools(["send_mail"])
    graph = runs.build_graph(
        make_mailing_team(approve_above=100.0),
        tools=tools,
        checkpointer=make_saver(),
    )

    asked = await graph.ainvoke({"request": REQUEST}, make_config())

    (effect,) = asked["__interrupt__"][0].value["certificate"]["effects"]
    assert effect == {"task": "a", "worker": "mailer", "tools": ["send_mail"]}
    assert {call.schema for call in runs.requests} == {"Plan"}


async def test_a_cost_to_ask_above_needs_a_thread_and_a_teams_file_may_set_it(
    tmp_path: Path, settings: Settings
):
    keys = "description: Compares.\napprove_above: 0.5"
    folder = write_team(tmp_path / "parts", keys, reader="description: Reads.")
    graph = build_supervisor(folder, settings=settings)

    with pytest.raises(CheckpointerMissing, match="approve_above"):
        await graph.ainvoke({"request": REQUEST})

    assert graph.team.approve_above == 0.5


def make_mailing_team(**fields: Any) -> Team:
    mailer = Worker(name="mailer", description="Sends.", instructions="Send.", tools=("send_mail",))
    own = {"send_mail": OwnTool()}
    return make_team(**fields).model_copy(update={"workers": (mailer,), "own_tools": own})


def test_models_that_do_their_worst_spend_no_more_than_the_certificate_says():
    trials = run_trials(11)

    assert [problem for trial in trials for problem in trial.list_breaches()] == []
    assert [trial.problem for trial in trials if trial.problem] == []
    assert any(trial.bounds for trial in trials)
