"""A certificate names all that a plan can at most cost and reach, and what lies outside of it."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.insight.certificate import PlanCertifier, hash_plan
from nodes.errors import SettingsInvalid
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings
from nodes.planning.certificates import PlannedRun, needs_approval
from nodes.planning.coverage import note_uncovered
from nodes.schemas.team import Limits, OwnTool, Team, Worker
from state import Amounts, Context, Estimate, Plan
from tests.benchmarks.certified_plans import draw_run, is_equal_to_search
from tests.teams import make_team

PAID: Any = dict.fromkeys(("fast", "standard", "strong"), "openai:gpt-5-mini")
TOOLS = {
    "read_contract": OwnTool(reads=("private",), sends="nothing"),
    "search": OwnTool(reads=("untrusted",), sends="query"),
    "send_mail": OwnTool(reads=(), sends="anything"),
}


def make_sending_team(**fields: Any) -> Team:
    """Make a reader, a searcher and a mailer, each with one tool."""
    workers = tuple(
        Worker(name=name, description="Works.", instructions="Work.", tools=(tool,))
        for name, tool in zip(("reader", "searcher", "mailer"), TOOLS, strict=True)
    )
    whole = make_team(**fields)
    return whole.model_copy(update={"workers": workers, "own_tools": TOOLS})


def make_run(
    *tasks: tuple[str, str, list[str]], team: Team | None = None, **changes: Any
) -> PlannedRun:
    """Make a planned run of tasks: id, worker, and what it depends on."""
    described = [
        {"id": name, "worker": worker, "depends_on": needs, "description": f"Do {name}."}
        for name, worker, needs in tasks
    ]
    run = PlannedRun(
        plan=Plan.model_validate({"goal": "All of it.", "tasks": described}),
        team=team or make_sending_team(is_held=True, max_revisions=0),
        models=ModelCatalog(ModelSettings(**PAID, api_key="sk-test")),
        context=Context(),
        materials=(),
    )
    return replace(run, **changes)


def certify(run: PlannedRun) -> dict[str, Any]:
    return PlanCertifier().certify(run)


@given(st.integers(0, 10**6))
def test_flows_and_parallel_writes_are_those_of_a_search_over_all_paths(seed: int) -> None:
    assert is_equal_to_search(draw_run(random.Random(seed)))


def test_what_a_task_read_may_reach_a_tool_of_a_task_after_it_and_none_before_it() -> None:
    after = make_run(("a", "reader", []), ("b", "searcher", ["a"]))
    before = make_run(("a", "reader", ["b"]), ("b", "searcher", []))

    found = [flow for flow in certify(after)["flows"] if "read_contract" in flow["sources"]]

    assert [(flow["to"], flow["way"]) for flow in found] == [("search", "plan")]
    assert found[0]["guard"] == "only words of the request are sent"
    assert not [flow for flow in certify(before)["flows"] if "read_contract" in flow["sources"]]


SENT = "what may leave this machine: words of your request and of pages found, to search"
KEPT = "your files and data are not sent"
TO_MODELS = f"{KEPT}, except to the language models and servers that you have set up"


@pytest.mark.parametrize(
    ("worker", "by_model", "said"),
    [
        ("reader", False, ["this plan sends nothing from this machine"]),
        ("reader", True, []),
        ("searcher", False, [SENT, KEPT]),
        ("searcher", True, [SENT, TO_MODELS]),
        ("mailer", False, ["read_contract may reach send_mail (refused)"]),
    ],
)
def test_whether_files_leave_the_machine_is_said_at_once(
    worker: str, by_model: bool, said: list[str]
) -> None:
    run = make_run(("a", "reader", []), ("b", worker, ["a"]))

    shown = certify(run if by_model else replace(run, models=ModelCatalog(ModelSettings())))

    lines = [line for line in shown["summary"] if "bound" not in line and "at most" not in line]
    assert [line for line in lines if "costs nothing" not in line][: len(said) or None] == said


def test_a_public_file_that_may_be_sent_is_named() -> None:
    run = make_run(("a", "searcher", []), models=ModelCatalog(ModelSettings()))
    task = run.plan.tasks[0].model_copy(update={"materials": ("a.md",)})
    plan = run.plan.model_copy(update={"tasks": (task,)})

    shown = certify(replace(run, plan=plan, public=("a.md",)))["summary"]

    assert [line for line in shown if "a.md" in line] == [
        "material a.md, search may reach search (which sends outside)"
    ]
    assert KEPT not in shown


def test_the_answer_may_hold_what_any_task_has_read() -> None:
    run = make_run(("a", "reader", []), ("b", "searcher", []))

    assert certify(run)["answer_sources"] == ["read_contract", "search"]


def test_a_task_that_may_move_or_be_planned_again_may_reach_more_and_by_which_way_is_said() -> None:
    moving = make_sending_team(max_revisions=0)
    growing = make_sending_team(max_revisions=1)

    ways = [
        {
            (flow["to"], flow["way"])
            for flow in certify(make_run(("a", "reader", []), team=team))["flows"]
        }
        for team in (make_sending_team(is_held=True, max_revisions=0), moving, growing)
    ]

    assert ways[0] == set()
    assert ways[1] == ways[2] == {("search", "recovery"), ("send_mail", "recovery")}


def test_tasks_with_effects_are_those_whose_tools_may_do_more_than_read() -> None:
    run = make_run(("a", "searcher", []), ("b", "mailer", []))

    assert certify(run)["effects"] == [{"task": "b", "worker": "mailer", "tools": ["send_mail"]}]


@pytest.mark.parametrize(("needs", "pairs"), [([], 1), (["a"], 0)])
def test_two_tasks_that_may_write_the_same_thing_are_named_unless_one_waits_for_the_other(
    needs: list[str], pairs: int
) -> None:
    made = certify(make_run(("a", "mailer", []), ("b", "mailer", needs)))

    assert sum(each["pairs"] for each in made["parallel_writes"]) == pairs


def test_parts_of_the_request_without_a_task_are_named() -> None:
    lost, words = "draft a letter to the owner", "Count the parking spaces of each shop"
    run = make_run(("a", "reader", []))
    task = run.plan.tasks[0].model_copy(update={"description": f"{words} in shops.md."})

    plan = note_uncovered(
        run.plan.model_copy(update={"tasks": (task,)}), f"{words} and {lost}.", run.team
    )

    made = certify(replace(run, plan=plan))

    assert made["uncovered"] == [lost]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, "tokens: set --max-tokens"),
        ({}, "money: set --max-cost"),
        ({"models": ModelCatalog(ModelSettings(strong="openai:unheard", api_key="k"))}, "PRICES"),
        ({"context": Context(max_tokens=9)}, None),
    ],
)
def test_what_has_no_bound_is_said_with_the_setting_that_gives_one(
    changes: dict[str, Any], named: str | None
) -> None:
    worst = certify(make_run(("a", "reader", []), **changes))["worst_case"]

    assert worst["model_calls"] > 0
    if named is None:
        assert worst["unbounded"] == [] and worst["tokens"] > 9 and worst["cost_usd"] > 0
    else:
        assert any(named in reason for reason in worst["unbounded"])


def test_the_built_in_model_costs_nothing_and_a_worker_elsewhere_has_no_bound_here() -> None:
    team = make_sending_team(is_held=True)
    there = Worker.model_validate(
        {
            "name": "far",
            "description": "Works.",
            "remote": {"url": "http://far.example", "graph": "g"},
        }
    )
    free = make_run(("a", "reader", []), models=ModelCatalog(ModelSettings()))
    far = make_run(
        ("a", "far", []), team=team.model_copy(update={"workers": (*team.workers, there)})
    )

    assert certify(free)["worst_case"]["cost_usd"] == 0
    worst = certify(far)["worst_case"]
    assert worst["model_calls"] is worst["cost_usd"] is None
    assert "far" in worst["unbounded"][0]


def test_lower_caps_give_lower_bounds() -> None:
    def bound(**caps: Any) -> dict[str, Any]:
        run = make_run(("a", "reader", []), team=make_sending_team(), context=Context(**caps))
        return dict(certify(run)["worst_case"])

    assert bound(max_steps=3)["model_calls"] < bound(max_steps=30)["model_calls"]
    assert bound(max_tokens=100)["tokens"] < bound(max_tokens=10_000)["tokens"]
    assert bound(max_cost_usd=0.1)["cost_usd"] < bound(max_cost_usd=10)["cost_usd"]


def test_teams_within_teams_are_counted_and_bounds_beyond_any_count_are_none() -> None:
    def nest(depth: int) -> Team:
        team = make_team(max_revisions=0, max_recursion=0, max_steps=10**4, max_tasks=1000)
        if not depth:
            return team
        inner = Worker(name="inner", description="Works.", team=nest(depth - 1))
        return team.model_copy(update={"workers": (*team.workers, inner)})

    one, two, six = (
        certify(make_run(("a", "analyst", []), team=nest(depth)))["worst_case"]
        for depth in (0, 1, 6)
    )

    assert one["model_calls"] < two["model_calls"]
    assert six["model_calls"] is None and "--max-steps" in six["unbounded"][0]


def test_a_plan_has_the_same_hash_whatever_its_version_and_who_made_it() -> None:
    plan = make_run(("a", "reader", [])).plan
    again = plan.model_copy(update={"version": 3, "untaken": ("x",), "rule_reason": "y"})
    other = plan.model_copy(update={"goal": "Another one."})

    assert hash_plan(plan) == hash_plan(again) != hash_plan(other)


def test_a_run_is_within_its_own_certificate_and_outside_of_those_of_others() -> None:
    certifier, run = PlanCertifier(), make_run(("a", "reader", []), ("b", "searcher", []))
    given = certifier.certify(run)
    less = {**given, "held_case": {**given["held_case"], "model_calls": 1}}
    longer = run.team.workers[0].model_copy(update={"limits": Limits(max_turns=50)})
    mailing = {**TOOLS, "read_contract": OwnTool(reads=("private",), sends="anything")}
    joined = make_run(("a", "reader", []), ("b", "searcher", ["a"]))

    def find(given: Any, **team: Any) -> str:
        return certifier.find_excess(given, replace(run, team=run.team.model_copy(update=team)))

    assert find(given) == ""
    assert find(less).startswith("model_calls may be")
    assert find({**given, "team": "others"}).startswith("the team is")
    assert "model_calls" in find(given, workers=(longer, *run.team.workers[1:]))
    assert "task a may call read_contract" in find(given, own_tools=mailing)
    assert "the plan is another one" in certifier.find_excess(given, joined)


@pytest.mark.parametrize(
    "damage",
    [
        {"version": 2},
        {"version": "1; rm"},
        {"plan_hash": "sha256:none"},
        {"caps": {"max_tokens": -1}},
        {"caps": {"max_cost_usd": float("nan")}},
        {"caps": {"max_everything": 1}},
        {"effects": [{"task": "a", "worker": "b", "tools": "no list"}] * 3},
        {"summary": ["x"] * 6_000},
        {"worst_case": None},
        {"\x1b[31m": "hostile"},
    ],
)
def test_a_certificate_that_is_damaged_or_hostile_is_one_clear_line(damage: Any) -> None:
    given = certify(make_run(("a", "reader", [])))

    with pytest.raises(SettingsInvalid) as refused:
        PlanCertifier().read({**given, **damage})

    assert "\n" not in refused.value.format_line()
    assert "\x1b" not in refused.value.format_line()
    assert "make it again" in refused.value.next


@pytest.mark.parametrize(
    ("estimate", "worker", "asks"),
    [
        (Estimate(cost_usd=0.1), "searcher", False),
        (Estimate(cost_usd=0.9), "searcher", True),
        (Estimate(cost_usd=0.1, high=Amounts(cost_usd=0.9)), "searcher", True),
        (Estimate(cost_usd=None), "searcher", True),
        (Estimate(cost_usd=0.1), "mailer", True),
    ],
)
def test_a_plan_is_to_be_approved_where_it_may_cost_more_or_has_an_effect(
    estimate: Estimate, worker: str, asks: bool
) -> None:
    team, run = make_sending_team(), make_run(("a", worker, []))

    assert needs_approval(run.plan, team, Context(approve_above=0.5), estimate) is asks
    own = team.model_copy(update={"approve_above": 0.5})
    assert needs_approval(run.plan, own, Context(), estimate) is asks
    assert not needs_approval(run.plan, team, Context(), estimate)
