"""Asking for a plan until one is valid, and choosing by worker instead."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from nodes.errors import EndpointUnreachable, PlanInvalid
from nodes.models.catalog import AvailableModels
from nodes.planning.plan_check import build_plan_schema
from nodes.planning.planner import make_plan
from nodes.planning.routing import choose_next_step, route_request
from nodes.schemas.handoff import PlanningValues, lay_beside
from nodes.schemas.replies import Decision
from nodes.schemas.team import SPECIALIST, Team, Worker
from supervisor_worker.testing.fake_models import FakeCatalog, make_models
from tests.node_runs import NodeRun
from tests.node_samples import REQUEST, make_reports, make_task
from tests.node_samples import make_plan as make_sample
from tests.teams import make_team

UNKNOWN = make_sample(make_task("A", "accountant"))
OTHER = make_sample(make_task("B", "accountant"))
VAGUE = make_sample(make_task("A", description="Do it."))


async def run_planner(models: FakeCatalog, run: NodeRun | None = None, **fields: Any) -> Any:
    options = {"max_tasks": fields.pop("max_tasks", 9), "materials": ()}
    return await (run or NodeRun()).call(
        make_plan,
        AvailableModels(models.model),
        make_team(**fields),
        [HumanMessage(REQUEST)],
        **options,
    )


async def test_a_valid_plan_takes_one_call():
    plan, usage = await run_planner(make_models(Plan=make_sample()))

    assert plan == make_sample() and usage.model_calls == 1


async def test_all_repairs_are_counted():
    run = NodeRun()

    plan, usage = await run_planner(make_models(Plan=[UNKNOWN, OTHER, make_sample()]), run)

    assert plan == make_sample() and usage.model_calls == 3
    assert len(run.list_events("plan_rejected")) == 2


async def test_a_reply_that_came_before_is_not_asked_for_again():
    run = NodeRun()

    with pytest.raises(PlanInvalid) as refused:
        await run_planner(make_models(Plan=UNKNOWN), run)

    assert len(run.list_events("plan_rejected")) == 2
    assert refused.value.next.startswith("say the request in other words")


@pytest.mark.parametrize(
    ("plans", "repairs", "calls"),
    [
        ([VAGUE], 2, 2),
        ([VAGUE], 0, 1),
        ([VAGUE, UNKNOWN, OTHER], 2, 3),
        ([UNKNOWN, VAGUE], 2, 3),
        ([UNKNOWN, VAGUE], 1, 2),
    ],
    ids=["told once", "no repairs", "no better one", "other words", "too late"],
)
async def test_vague_tasks_are_sent_back_once_and_run_where_no_better_plan_comes(
    plans: list[Any], repairs: int, calls: int
):
    plan, usage = await run_planner(make_models(Plan=plans), max_plan_repairs=repairs)

    assert plan == VAGUE and usage.model_calls == calls


async def test_a_vague_plan_is_taken_when_the_planner_fails_afterwards():
    models = make_models(Plan=[VAGUE, EndpointUnreachable("no answer")])

    assert (await run_planner(models))[0] == VAGUE


async def test_without_a_valid_plan_the_error_names_the_cap_and_the_cost():
    with pytest.raises(PlanInvalid, match="at most 1") as refused:
        await run_planner(make_models(Plan=make_sample()), max_tasks=1)

    assert "max_tasks" in refused.value.next
    assert refused.value.usage is not None and refused.value.usage.model_calls == 2


@pytest.mark.parametrize(
    ("fields", "worker"),
    [({"generalist": "writer"}, "writer"), ({"recruit": True}, SPECIALIST)],
)
async def test_an_unknown_worker_is_replaced_after_the_last_repair(
    fields: dict[str, Any], worker: str
):
    plan, _ = await run_planner(make_models(Plan=UNKNOWN), **fields)

    assert [task.worker for task in plan.tasks] == [worker]


def test_the_schema_names_the_workers_of_the_team():
    schema = build_plan_schema(("researcher", "writer"), (), max_tasks=9, may_divide=False)

    task = schema["$defs"]["Task"]["properties"]
    assert task["worker"]["enum"] == ["researcher", "writer"] and "is_compound" not in task
    assert "tier" not in task


def test_the_schema_offers_tiers_only_where_a_worker_may_use_others():
    schema = build_plan_schema(
        ("writer",), (), max_tasks=9, may_divide=False, tiers=("fast", "strong")
    )

    tier = schema["$defs"]["Task"]["properties"]["tier"]
    assert tier["anyOf"][0]["enum"] == ["fast", "strong"]


async def route(models: FakeCatalog, team: Team, *, max_tasks: int = 9) -> Any:
    with lay_beside(PlanningValues(team, REQUEST, {"sales.csv": ""})):
        return await route_request(
            AvailableModels(models.model), team, REQUEST, ["sales.csv"], max_tasks=max_tasks
        )


async def test_a_request_may_go_to_two_workers():
    models = make_models(Decision=Decision(worker="analyst", secondary="writer"))

    plan, _, usage = await route(models, make_team())

    assert [(task.worker, task.materials) for task in plan.tasks] == [
        ("analyst", ("sales.csv",)),
        ("writer", ("sales.csv",)),
    ]
    assert usage.model_calls == 1


async def test_where_one_task_is_allowed_there_is_no_secondary():
    models = make_models(Decision=Decision(worker="analyst", secondary="writer"))

    plan, _, _ = await route(models, make_team(), max_tasks=1)

    assert [task.worker for task in plan.tasks] == ["analyst"]


async def test_a_pinned_route_asks_no_model():
    models = make_models()

    plan, _, _ = await route(models, make_team(routes={"revenue shops": "analyst"}))

    assert [task.worker for task in plan.tasks] == ["analyst"] and models.model.calls == []


@pytest.mark.parametrize("reply", [Decision(worker="accountant"), "I cannot decide."])
@pytest.mark.parametrize(("generalist", "worker"), [("writer", "writer"), ("", "researcher")])
async def test_an_unusable_choice_falls_to_the_generalist_or_the_first_worker(
    reply: Any, generalist: str, worker: str
):
    plan, decision, _ = await route(make_models(Decision=reply), make_team(generalist=generalist))

    assert [task.worker for task in plan.tasks] == [worker] and decision.reason


NOTE = "Draft a note of 80 words on the revenue of each shop."
WORDED = "Rank the shops of sales.csv by revenue in 2025, highest first."


async def test_the_router_words_the_task_and_the_request_stays_with_it():
    reply = Decision(
        worker="analyst",
        task=WORDED,
        secondary="writer",
        secondary_task=NOTE,
    )

    plan, _, _ = await route(make_models(Decision=reply), make_team())

    first, second = (task.description for task in plan.tasks)
    assert first.startswith(WORDED) and first.endswith(REQUEST)
    assert second.startswith(NOTE) and second.endswith(REQUEST)
    assert plan.goal == REQUEST


@pytest.mark.parametrize("words", ["", "Do it.", "x" * 4000, REQUEST])
async def test_a_task_that_the_router_words_badly_is_the_request_itself(words: str):
    plan, _, _ = await route(
        make_models(Decision=Decision(worker="analyst", task=words)), make_team()
    )

    assert [task.description for task in plan.tasks] == [REQUEST]


@given(words=st.text(max_size=5000))
async def test_whatever_the_router_writes_the_task_holds_the_whole_request(words: str):
    plan, _, _ = await route(
        make_models(Decision=Decision(worker="analyst", task=words)), make_team()
    )

    (task,) = plan.tasks
    assert task.description.endswith(REQUEST) and len(task.description) <= 4000


@pytest.mark.parametrize(
    ("fields", "max_tasks", "is_planned"),
    [({"plan_when_needed": True}, 9, True), ({"plan_when_needed": True}, 1, False), ({}, 9, False)],
)
async def test_a_request_is_left_to_a_planner_only_where_the_team_and_the_caps_allow_it(
    fields: dict[str, Any], max_tasks: int, is_planned: bool
):
    models = make_models(Decision=Decision(worker="analyst", needs_plan=True))

    plan, _, _ = await route(models, make_team(**fields), max_tasks=max_tasks)

    assert (plan is None) == is_planned


@pytest.mark.needs("embedded")
async def test_an_unusable_choice_falls_to_the_worker_that_is_nearest_to_the_request():
    near = Worker(name="clerk", description=f"Answers: {REQUEST}", instructions="Work.")
    made = make_team(generalist="writer")
    team = made.model_copy(update={"workers": (*made.workers, near)})

    plan, decision, _ = await route(make_models(Decision="I cannot decide."), team)

    assert [task.worker for task in plan.tasks] == ["clerk"]
    assert "chosen by rule" in decision.reason


async def test_the_first_step_cannot_be_that_all_is_done():
    models = make_models(Decision=Decision(is_done=True))

    plan, _, _ = await choose_next_step(
        AvailableModels(models.model), make_team(), REQUEST, (), None, {}
    )

    assert plan is not None and [task.id for task in plan.tasks] == ["S1"]


async def test_a_step_gets_an_id_that_no_earlier_task_has():
    models = make_models(Decision=Decision(worker="writer", task="Write it."))
    begun = make_sample(make_task("S2"))

    plan, _, _ = await choose_next_step(
        AvailableModels(models.model), make_team(), REQUEST, (), begun, make_reports("S2")
    )

    assert plan is not None and [task.id for task in plan.tasks] == ["S2", "S3"]
