"""What a human is asked, in the form that clients show."""

from typing import Any

import pytest
from jsonschema import validate  # type: ignore[import-untyped]  # it has no stubs
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from pydantic import TypeAdapter

from nodes.human.request import (
    MAX_DESCRIPTION_CHARS,
    build_plan_request,
    build_question_request,
    build_tool_request,
    describe_plan,
)
from state import Plan, Task
from tests.node_samples import make_plan

REQUESTS = {
    "run_plan": build_plan_request(make_plan()),
    "answer_question": build_question_request("Which year?", task="A", worker="researcher"),
    "send": build_tool_request("send", {"to": "x"}, task="A", worker="writer"),
}


@pytest.mark.parametrize("action", REQUESTS)
def test_a_question_is_a_request_of_langchains_middleware(action: str):
    request = REQUESTS[action]

    TypeAdapter(HITLRequest).validate_python(request)
    assert request["action_requests"][0]["name"] == action
    assert request["review_configs"][0]["action_name"] == action


@pytest.mark.parametrize("action", REQUESTS)
def test_each_allowed_decision_fits_the_schema_of_the_reply(action: str):
    request = REQUESTS[action]
    edited = {"name": action, "args": request["action_requests"][0]["args"]}
    fields: dict[str, Any] = {"edit": {"edited_action": edited}, "respond": {"message": "2025"}}

    for kind in request["review_configs"][0]["allowed_decisions"]:
        reply = {"decisions": [{"type": kind, **fields.get(kind, {})}]}
        validate(reply, request["response_schema"])


def test_a_plan_is_described_with_each_task_and_its_worker():
    plan = make_plan()

    shown = build_plan_request(plan)["description"]

    assert plan.goal in shown
    assert all(task.id in shown and task.worker in shown for task in plan.tasks)


def test_a_description_has_no_invisible_characters_and_a_limit():
    shown = build_question_request("a\x1b[2Jb\u202e" + "x" * 99_999, task="A", worker="w")[
        "description"
    ]

    assert shown.startswith("a[2Jb") and len(shown) == MAX_DESCRIPTION_CHARS


def test_a_description_loads_no_picture_and_holds_no_html():
    seen = "\\![x](https://a.example/?q=1) <img src=y> 1 < 2!"

    shown = build_question_request(seen, task="A", worker="w")["description"]

    assert "![" not in shown and "<img" not in shown and "1 < 2!" in shown


def test_a_plan_says_which_parts_no_worker_takes():
    task = Task(id="t", worker="w", description="Sum the sales.")
    plan = Plan(goal="g", tasks=(task,), untaken=("book flights",))

    assert "**No worker takes:** book flights" in describe_plan(plan)
