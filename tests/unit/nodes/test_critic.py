"""The node that reviews the draft of an answer."""

from typing import Any

import pytest

from nodes.critic import after_critic, criticize
from nodes.errors import EndpointUnreachable
from nodes.schemas.replies import Critique, Rework
from state import Answer, Expense, SupervisorState, Usage
from supervisor_worker.testing.fake_models import FakeCatalog, make_models
from tests.node_runs import NodeRun, list_payers, make_config, read_channel
from tests.node_samples import make_plan, make_planned_state, make_reports, make_task
from tests.teams import make_team

PLAN = make_plan(make_task("A"), make_task("B", "analyst", "A"), make_task("C", "writer"))
ACCEPTED = Critique(accepted=True)
REJECTED = Critique(accepted=False, problems=("No year is named.",))
SENT_BACK = Critique(accepted=False, send_back=(Rework(task="A", fix="Name the year."),))


def make_drafted_state(**fields: Any) -> SupervisorState:
    draft = {"answer": Answer(text="Shop A leads."), "drafted": "done", "steps": {"A": 1, "C": 1}}
    return make_planned_state(PLAN, make_reports("A", "B", "C"), **{**draft, **fields})


async def run_critic(
    models: FakeCatalog, state: SupervisorState | None = None, run: NodeRun | None = None
) -> Any:
    state = state or make_drafted_state()
    return await (run or NodeRun()).call(criticize, state, team=make_team(), models=models)


async def test_an_accepted_draft_is_delivered_and_the_review_is_charged():
    run = NodeRun()

    update = await run_critic(make_models(Critique=ACCEPTED), run=run)

    assert (update["answer"].text, update["status"]) == ("Shop A leads.", "done")
    assert list_payers(update) == [("critic", "strong", 1)]
    assert [event["kind"] for event in run.events] == ["criticized", "answer"]
    assert after_critic({**make_drafted_state(), **update}) == "__end__"


@pytest.mark.parametrize(
    ("reply", "calls"), [("Fine with me.", 1), (EndpointUnreachable("no answer"), 0)]
)
async def test_a_critic_that_fails_has_accepted(reply: Any, calls: int):
    run = NodeRun()

    update = await run_critic(make_models(Critique=reply), run=run)

    assert update["status"] == "done" and run.list_events("criticized")[0]["remark"]
    assert list_payers(update) == [("critic", "strong", calls)]


async def test_problems_without_tasks_to_redo_become_gaps():
    update = await run_critic(make_models(Critique=REJECTED))

    assert update["status"] == "partial" and update["answer"].gaps == ("No year is named.",)


async def test_a_task_that_is_sent_back_is_done_again_with_those_that_depend_on_it():
    update = await run_critic(make_models(Critique=SENT_BACK))

    assert set(read_channel(update, "results")) == {"C"}
    assert update["notes"] == {"A": "Name the year."} and update["critic_rounds"] == 1
    assert set(update["results_before_rework"]) == {"A", "B"} and "status" not in update
    assert after_critic(make_drafted_state()) == "supervisor"


async def test_earlier_attempts_still_count_for_the_step_cap_and_the_bill():
    spent = Expense(worker="researcher", tier="standard", usage=Usage(model_calls=4))

    update = await run_critic(
        make_models(Critique=SENT_BACK), make_drafted_state(ledger={"A#1": spent})
    )

    assert sum(read_channel(update, "steps").values()) == 2
    assert ("researcher", "standard", 4) in list_payers(update)


@pytest.mark.parametrize(
    ("fields", "run"),
    [
        ({"critic_rounds": 1}, NodeRun()),
        ({"steps": {"A": 499}}, NodeRun()),
        ({}, NodeRun(make_config(work_left_s=0.0))),
    ],
)
async def test_at_a_cap_nothing_is_sent_back(fields: dict[str, Any], run: NodeRun):
    update = await run_critic(make_models(Critique=SENT_BACK), make_drafted_state(**fields), run)

    assert update["status"] == "partial" and len(update["answer"].gaps) == 1


async def test_tasks_that_have_no_result_are_not_sent_back():
    critique = Critique(accepted=False, send_back=(Rework(task="Z", fix="x"),))

    update = await run_critic(make_models(Critique=critique))

    assert update["status"] == "partial"
