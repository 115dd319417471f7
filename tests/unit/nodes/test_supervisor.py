"""The supervisor as a function: a fake model plans, and no graph runs."""

from typing import Any

import pytest
from langgraph.types import Send

from nodes.errors import (
    EndpointUnreachable,
    ModelUnknown,
    PlanInvalid,
    RequestInvalid,
    SupervisorError,
    Unauthorized,
)
from nodes.schemas.replies import Decision
from nodes.schemas.team import Team
from nodes.supervisor import after_supervisor, supervise
from state import Context, Dependency, Origin, SupervisorState
from supervisor_worker.testing.fake_models import FakeCatalog, make_models
from tests.node_runs import NodeRun, list_payers, make_config, make_steps, read_channel
from tests.node_samples import (
    REQUEST,
    make_plan,
    make_planned_state,
    make_report,
    make_reports,
    make_task,
)
from tests.teams import make_team

OTHER_PLAN = make_plan(make_task("C", "writer"))
CLOSED = {"A": "Shop B is closed."}
INVALID_PLAN = make_plan(make_task("C", "accountant"))


async def run_supervisor(
    state: SupervisorState,
    models: FakeCatalog | None = None,
    *,
    team: Team | None = None,
    run: NodeRun | None = None,
) -> Any:
    async def prepare(_: Team) -> None:
        pass

    async def describe_no_database() -> str:
        return ""

    options = {
        "team": team or make_team(),
        "models": models or make_models(),
        "prepare": prepare,
        "describe_database": describe_no_database,
        "prepare_first_calls": lambda *_: None,
    }
    return await (run or NodeRun()).call(supervise, state, **options)


async def test_a_new_request_gets_a_plan_and_its_tasks_are_sent():
    run = NodeRun()

    update = await run_supervisor({"request": REQUEST}, make_models(Plan=make_plan()), run=run)

    assert update["plan"].tasks == make_plan().tasks and update["plan"].version == 1
    assert update["todo"] == ("A", "B")
    assert [event["kind"] for event in run.events] == [
        *("request", "plan_created", "ui", "dispatched"),
    ]


async def test_planning_is_charged_to_the_supervisor_on_the_planner_tier():
    update = await run_supervisor({"request": REQUEST}, make_models(Plan=make_plan()))

    assert list_payers(update) == [("supervisor", "strong", 1)]


async def test_a_second_request_leaves_no_results_of_the_first():
    state = make_planned_state(results=make_reports("A", "B"), status="done", revisions=2)
    state["request"] = "Compare the rents of our shops."

    update = await run_supervisor(state, make_models(Plan=make_plan()))

    assert read_channel(update, "results") == {} and update["revisions"] == 0
    assert update["plan"].version == 2


async def test_an_empty_request_is_refused():
    with pytest.raises(RequestInvalid):
        await run_supervisor({"request": " "})


async def test_an_invalid_plan_is_sent_back_with_its_problem():
    models = make_models(Plan=[INVALID_PLAN, make_plan()])

    update = await run_supervisor({"request": REQUEST}, models)

    assert update["plan"].tasks == make_plan().tasks
    assert "accountant" in models.model.calls[1].text


@pytest.mark.needs("embedded")
async def test_a_planner_that_is_down_is_replaced_by_a_rule():
    models = make_models(Plan=EndpointUnreachable("no answer"))

    update = await run_supervisor({"request": REQUEST}, models)

    assert update["plan"].is_by_rule and update["todo"]


@pytest.mark.parametrize("error", [Unauthorized("a wrong key"), ModelUnknown("no such model")])
async def test_a_wrong_setting_ends_the_run_before_anything_is_sent(error: SupervisorError):
    with pytest.raises(type(error)):
        await run_supervisor({"request": REQUEST}, make_models(Plan=error))


async def test_a_plan_that_a_human_must_approve_is_not_dispatched():
    run = NodeRun(context=Context(approve_plan=True))

    update = await run_supervisor({"request": REQUEST}, make_models(Plan=make_plan()), run=run)

    assert update["awaits_approval"] and not run.list_events("dispatched")
    assert after_supervisor(update) == "approval"


async def test_a_routing_team_sends_the_request_to_the_worker_that_the_model_names():
    models = make_models(Decision=Decision(worker="analyst", reason="figures"))

    update = await run_supervisor({"request": REQUEST}, models, team=make_team(strategy="route"))

    assert [task.worker for task in update["plan"].tasks] == ["analyst"]


async def test_unfinished_tasks_are_sent_again_after_a_new_report():
    state = make_planned_state(results=make_reports("A"), reports_at_last_dispatch=0)

    update = await run_supervisor(state)

    assert update["todo"] == ("B",)


async def test_a_dispatch_that_brought_no_report_is_the_last():
    state = make_planned_state(results=make_reports("A"), reports_at_last_dispatch=1)

    assert (await run_supervisor(state))["todo"] == ()


async def test_tasks_whose_required_input_failed_are_skipped():
    plan = make_plan(make_task("A"), make_task("B", "analyst", "A"))
    state = make_planned_state(plan, {"A": make_report("A", status="failed")})

    update = await run_supervisor(state)

    assert update["results"]["B"].status == "skipped" and update["todo"] == ()


@pytest.mark.parametrize(
    ("run", "steps", "kind"),
    [
        (NodeRun(make_config(work_left_s=0.0)), {}, "deadline"),
        (NodeRun(context=Context(max_steps=2)), make_steps(2), "budget"),
    ],
)
async def test_at_a_cap_nothing_more_is_sent(run: NodeRun, steps: dict[str, int], kind: str):
    update = await run_supervisor(make_planned_state(steps=steps), run=run)

    assert update["todo"] == () and len(run.list_events(kind)) == 1


async def test_a_finding_against_the_plan_leads_to_a_new_version_that_keeps_what_is_done():
    results = make_reports("A")
    state = make_planned_state(results=results, doubts=CLOSED, reports_at_last_dispatch=0)

    update = await run_supervisor(state, make_models(Plan=OTHER_PLAN))

    assert [task.id for task in update["plan"].tasks] == ["A", "C"]
    assert (update["plan"].version, update["revisions"], update["todo"]) == (2, 1, ("C",))
    assert list_payers(update) == [("supervisor", "strong", 1)]


async def test_the_revised_tasks_carry_the_taint_labels_of_the_results():
    results = {"A": make_report("A", taint_labels=("private",))}
    state = make_planned_state(results=results, doubts=CLOSED, origin=Origin(taint_labels=()))

    update = await run_supervisor(state, make_models(Plan=OTHER_PLAN))

    assert update["origin"].taint_labels == ("private",)


async def test_at_the_cap_of_revisions_the_plan_is_kept():
    results = make_reports("A")
    state = make_planned_state(results=results, doubts=CLOSED, revisions=2)
    run = NodeRun()

    update = await run_supervisor(state, run=run)

    assert "plan" not in update and update["todo"] == ("B",)
    assert len(run.list_events("plan_rejected")) == 1


async def test_a_failed_revision_is_charged_and_the_plan_is_kept():
    state = make_planned_state(results=make_reports("A"), doubts=CLOSED)

    update = await run_supervisor(state, make_models(Plan=INVALID_PLAN))

    assert "plan" not in update and update["todo"] == ("B",)
    assert list_payers(update) == [("supervisor", "strong", 3)]


async def test_a_plan_that_a_human_rejects_too_often_ends_the_run():
    state = make_planned_state(objection="Too expensive.", revisions=2)

    with pytest.raises(PlanInvalid):
        await run_supervisor(state, make_models(Plan=OTHER_PLAN))


async def test_the_revision_of_a_rejected_plan_awaits_approval():
    state = make_planned_state(objection="Leave out shop B.")

    update = await run_supervisor(state, make_models(Plan=OTHER_PLAN))

    assert update["awaits_approval"] and update["objection"] == ""


async def test_a_stepping_team_adds_one_task_after_a_result():
    plan = make_plan(make_task("A"))
    models = make_models(Decision=Decision(worker="writer", task="Write one paragraph on A."))

    update = await run_supervisor(
        make_planned_state(plan, make_reports("A")), models, team=make_team(strategy="step")
    )

    assert [task.worker for task in update["plan"].tasks] == ["researcher", "writer"]
    assert update["plan"].tasks[1].depends_on == (Dependency(task="A", required=False),)


async def test_a_stepping_team_ends_when_the_model_says_that_it_is_done():
    state = make_planned_state(make_plan(make_task("A")), make_reports("A"))
    models = make_models(Decision=Decision(is_done=True))

    update = await run_supervisor(state, models, team=make_team(strategy="step"))

    assert update["todo"] == () and "plan" not in update
    assert list_payers(update) == [("supervisor", "strong", 1)]


@pytest.mark.parametrize("max_tasks", [1, 9])
async def test_a_stepping_team_states_why_it_stopped_early(max_tasks: int):
    state = make_planned_state(make_plan(make_task("A")), make_reports("A"))
    models = make_models(Decision=EndpointUnreachable("no answer"))
    team = make_team(strategy="step", max_tasks=max_tasks)

    assert (await run_supervisor(state, models, team=team))["stop_reason"]


def test_each_task_to_do_is_sent_to_its_worker_with_its_inputs_and_the_names_of_its_materials():
    plan = make_plan(make_task("A"), make_task("B", "analyst", "A", materials=("b.csv",)))
    materials = {"a.csv": "1", "b.csv": "2"}
    state = make_planned_state(plan, make_reports("A"), materials=materials, todo=("B",))

    sends = after_supervisor(state)

    send = sends[0]
    assert isinstance(send, Send) and send.node == "analyst" and len(sends) == 1
    assert "materials" not in send.arg and set(send.arg["known"]) == {"A"}
    assert send.arg["task"].materials == ("b.csv",)


def test_the_monitor_goes_with_tasks_that_others_may_wait_for():
    plan = make_plan(make_task("A"), make_task("B", "analyst", "A"))

    sends = after_supervisor(make_planned_state(plan, todo=("A", "B")))

    assert isinstance(sends, list) and sends[-1] == "monitor"


def test_a_task_that_was_sent_back_carries_the_critics_note():
    state = make_planned_state(todo=("A",), notes={"A": "Name the year."})

    sends = after_supervisor(state)

    send = sends[0]
    assert isinstance(send, Send) and "Name the year." in send.arg["task"].description


def test_with_nothing_to_do_the_answer_is_written():
    assert after_supervisor(make_planned_state(todo=())) == "synthesizer"
