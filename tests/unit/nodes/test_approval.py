"""The approval node: what a human's reply does to the plan."""

from functools import partial
from typing import Any

import pytest

from graph.display.summary import format_question
from nodes.approval import LAST_PLAN, REASON_HINT, UNUSABLE_REASON, approve
from nodes.human.request import MAX_UNUSABLE_REPLIES
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings
from state import SupervisorState
from supervisor_worker.testing.fake_models import make_models
from tests.node_runs import run_until_interrupt
from tests.node_samples import make_plan, make_planned_state, make_task
from tests.teams import make_team

EDITED = make_plan(make_task("C", "writer")).model_dump(mode="json")


async def answer_question(*replies: Any) -> tuple[list[Any], dict[str, Any], list[Any]]:
    node = partial(approve, team=make_team(), models=make_models())
    return await run_until_interrupt(node, SupervisorState, make_planned_state(), *replies)


async def test_the_plan_is_shown_and_nothing_is_decided_without_a_reply():
    (question,), state, _ = await answer_question()

    assert question["kind"] == "plan" and question["problems"] == []
    assert question["plan"] == make_plan().model_dump(mode="json")
    assert "hint" not in question
    assert "awaits_approval" not in state


@pytest.mark.parametrize(("revisions", "warning"), [(0, ""), (1, ""), (2, LAST_PLAN)])
async def test_the_last_plan_is_shown_with_what_a_rejection_leads_to(revisions: int, warning: str):
    state = make_planned_state(revisions=revisions)
    node = partial(approve, team=make_team(), models=make_models())

    (question,), _, _ = await run_until_interrupt(node, SupervisorState, state)

    assert question.get("warning", "") == warning
    assert (LAST_PLAN in question["description"]) == bool(warning)
    assert (LAST_PLAN in format_question(question)) == bool(warning)


@pytest.mark.parametrize("reply", ["accept", "OK.", "yes", True, {"accept": True}])
async def test_an_accepted_plan_is_kept_as_it_is(reply: Any):
    _, state, events = await answer_question(reply)

    assert (state["awaits_approval"], state["objection"]) == (False, "")
    assert state["plan"] == make_plan()
    assert [event["kind"] for event in events] == ["plan_approved"]


@pytest.mark.parametrize(
    ("reply", "objection"),
    [
        ("reject: leave out shop B", "leave out shop B"),
        ({"reject": "leave out shop B"}, "leave out shop B"),
        ("we do not need shop B", "we do not need shop B"),
        ("no", "the plan was rejected without a reason"),
    ],
)
async def test_a_rejection_becomes_the_objection(reply: Any, objection: str):
    _, state, events = await answer_question(reply)

    assert (state["awaits_approval"], state["objection"]) == (False, objection)
    assert events == []


@pytest.mark.parametrize("reply", [EDITED, {"plan": EDITED}, {"plan": EDITED, "accept": True}])
async def test_an_edited_plan_becomes_the_next_version(reply: Any):
    _, state, events = await answer_question(reply)

    assert [task.id for task in state["plan"].tasks] == ["C"] and state["plan"].version == 2
    assert events[0]["edited"] is True


async def test_a_task_whose_words_are_new_no_longer_covers_the_old_part_of_the_request():
    first, *others = make_plan().tasks
    covered = first.model_copy(update={"covers": ("the shops",)})
    plan = make_plan().model_copy(update={"tasks": (covered, *others)})
    edited = covered.model_copy(update={"description": "Count the shops in B only."})
    reply = plan.model_copy(update={"tasks": (edited, *others)}).model_dump(mode="json")
    node = partial(approve, team=make_team(), models=make_models())

    state = (
        await run_until_interrupt(node, SupervisorState, make_planned_state(plan=plan), reply)
    )[1]

    assert state["plan"].tasks[0].description == "Count the shops in B only."
    assert state["plan"].tasks[0].covers == ()


async def test_an_edit_that_cannot_run_is_asked_about_again_with_its_problems():
    bad = make_plan(make_task("C", "accountant")).model_dump(mode="json")

    questions, state, _ = await answer_question(bad, "accept")

    assert "accountant" in "".join(questions[1]["problems"])
    assert state["plan"] == make_plan()


async def test_after_too_many_unusable_replies_the_plan_counts_as_rejected():
    _, state, _ = await answer_question(*["maybe"] * MAX_UNUSABLE_REPLIES)

    assert state["awaits_approval"] is False and state["objection"]


@pytest.mark.needs("embedded")
@pytest.mark.parametrize("refusal", ["reject: I do not like it", "no"])
async def test_a_reason_that_only_a_language_model_could_use_is_refused_and_asked_again(refusal):
    node = partial(approve, team=make_team(), models=ModelCatalog(ModelSettings()))

    questions, state, events = await run_until_interrupt(
        node, SupervisorState, make_planned_state(), refusal, "accept"
    )

    assert [question["hint"] for question in questions] == [REASON_HINT] * len(questions)
    assert REASON_HINT in questions[0]["description"]
    assert REASON_HINT in format_question(questions[0])
    assert questions[-1]["problems"] == [UNUSABLE_REASON]
    assert questions[-1]["plan"] == questions[0]["plan"]
    assert [event["kind"] for event in events] == ["plan_approved"]
    assert state["plan"] == make_plan()
