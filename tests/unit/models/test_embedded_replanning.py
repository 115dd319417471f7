"""The embedded model goes on with a plan that a report has upset."""

from typing import Any

from langchain_core.messages import AnyMessage

from nodes.models.embedded import EmbeddedModel
from nodes.prompts import messages as prompts
from nodes.schemas.team import Example, Team, Worker
from state import Plan, Report

FIRST: dict[str, Any] = {
    "goal": "Find the leak",
    "tasks": [
        {"id": "look", "description": "Find the leak in the cellar pipe.", "worker": "plumber"},
        {"id": "count", "description": "Count litres lost by the meter.", "worker": "clerk"},
        {"id": "tell", "description": "Write of the leak.", "worker": "writer",
         "depends_on": ["look", "count"]},
    ],
}  # fmt: skip
SECOND: dict[str, Any] = {
    "goal": "Find the hole in the roof",
    "tasks": [
        {"id": "litres", "description": "Count litres lost by the meter.", "worker": "clerk"},
        {"id": "climb", "description": "Find the hole in the slates.", "worker": "roofer"},
        {"id": "roof_note", "description": "Write of the roof.", "worker": "writer",
         "depends_on": ["climb", "litres"]},
    ],
}  # fmt: skip
REQUESTS = ("Find the leak and write of it", "The pipe is sound, the rain comes through the roof")
TEAM = Team(
    name="house",
    description="Houses.",
    guidance="Split by part of the house.",
    workers=tuple(
        Worker(name=name, description=f"The {name}.", instructions="Work.")
        for name in ("plumber", "clerk", "roofer", "writer")
    ),
    examples=tuple(
        Example.model_validate({"request": request, "plan": plan})
        for request, plan in zip(REQUESTS, (FIRST, SECOND), strict=True)
    ),
)
REASON = "look (plumber): The pipe is sound, rain comes through the roof."


def revise_plan(reason: str, *done: tuple[str, str]) -> Plan:
    old = Plan.model_validate(FIRST)
    messages: list[AnyMessage] = prompts.build_plan_messages(TEAM, REQUESTS[0], {}, max_tasks=8)
    results = [Report(task=task, worker=worker, output="Done.") for task, worker in done]
    messages.append(prompts.build_revision_message(old, results, reason))
    reply = EmbeddedModel().bind_tools([Plan], tool_choice="Plan").invoke(messages)
    return Plan.model_validate(reply.tool_calls[0]["args"])


def test_the_rest_comes_from_the_example_that_is_nearest_to_the_reason() -> None:
    plan = revise_plan(REASON, ("look", "plumber"), ("count", "clerk"))

    edges = {task.id: [edge.task for edge in task.depends_on] for task in plan.tasks}
    assert edges == {
        "look": [],
        "count": [],
        "climb": ["look"],
        "roof_note": ["climb", "count"],
    }
    assert not plan.tasks[2].depends_on[0].required


def test_work_of_workers_that_have_not_reported_is_planned() -> None:
    plan = revise_plan(REASON, ("look", "plumber"))

    assert [task.id for task in plan.tasks] == ["look", "litres", "climb", "roof_note"]


def test_where_nothing_was_left_nothing_is_added() -> None:
    plan = revise_plan(REASON, ("look", "plumber"), ("count", "clerk"), ("tell", "writer"))

    assert [task.id for task in plan.tasks] == ["look", "count", "tell"]


def test_a_reason_like_no_example_leaves_the_plan_of_the_request() -> None:
    plan = revise_plan("look (plumber): qwertz", ("look", "plumber"))

    assert [task.id for task in plan.tasks] == ["look", "count", "tell"]
