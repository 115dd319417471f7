"""What a human is asked, in the form that clients show, and what a reply does."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import validate  # type: ignore[import-untyped]  # it has no stubs
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from pydantic import TypeAdapter

from nodes.human.reply import MAX_REPLY_CHARS, TYPES, read_decision
from nodes.human.request import (
    MAX_DESCRIPTION_CHARS,
    build_plan_request,
    build_question_request,
    build_tool_request,
    describe_plan,
)
from state import Plan, Task
from tests.human_replies import EDITED, PLAN_REPLIES
from tests.node_samples import make_plan

PLAN = build_plan_request(make_plan())
QUESTION = build_question_request("Which year?", task="A", worker="researcher")
TOOL = build_tool_request("send", {"to": "x@y.z", "copies": 2}, task="A", worker="writer")


@pytest.mark.parametrize("client", PLAN_REPLIES)
def test_each_client_decides_about_a_plan(client: str):
    reply, kind = PLAN_REPLIES[client]

    decision = read_decision(reply, PLAN)

    assert decision.kind == kind
    if kind == "edit":
        assert decision.args is not None and decision.args["tasks"] == EDITED["tasks"]


@pytest.mark.parametrize(
    "words",
    [
        *("LGTM", "looks good", "go", "go ahead", "Yes, please run it", "sounds good to me!"),
        *("ok.", "Do it", "approve the plan", "\N{THUMBS UP SIGN}"),
        "let\N{RIGHT SINGLE QUOTATION MARK}s go",
    ],
)
def test_plain_words_approve(words: str):
    assert read_decision(words, PLAN).kind == "approve"
    assert read_decision(words, TOOL).kind == "approve"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("no", ""),
        ("No.", ""),
        ("reject: too dear", "too dear"),
        ("no, leave out B", "leave out B"),
        ("don't run it", "don't run it"),
        ("yes but without B", "yes but without B"),
        ("do not approve this", "do not approve this"),
        ("let it go", "let it go"),
        ("correct the plan", "correct the plan"),
        ("is the plan good", "is the plan good"),
        ("looks good except task B", "looks good except task B"),
    ],
)
def test_plain_words_object_with_their_reason(words: str, reason: str):
    decision = read_decision(words, PLAN)

    assert (decision.kind, decision.message) == ("reject", reason)


@pytest.mark.parametrize(
    "reply",
    [
        *("", "hm", "not good", "yes?", "acept", None, 7),
        [],
        {},
        {"x": 1},
        {"type": "maybe"},
        {"plan": 7},
        "{]",
        {"accept": False, "plan": EDITED},
        {"type": "edit"},
        {"type": "edit", "edited_action": {"name": "delete_all", "args": {}}},
        {"type": "approve", "message": "but leave out B"},
        [{"type": "edit", "args": {"goal": "a"}}, {"type": "edit", "args": {"goal": "b"}}],
        "x" * (MAX_REPLY_CHARS + 1),
    ],
    ids=lambda reply: f"{reply!r:.40}",
)
def test_what_is_not_certain_is_unclear_and_has_a_reason(reply: Any):
    decision = read_decision(reply, PLAN)

    assert decision.kind == "unclear" and decision.message.startswith("the reply is unclear: ")


@pytest.mark.parametrize(
    "reply",
    [
        "2025",
        " 2025\n",
        2025,
        {"answer": "2025"},
        '{"answer": 2025}',
        {"decisions": [{"type": "respond", "message": "2025"}]},
        {
            "decisions": [
                {
                    "type": "edit",
                    "edited_action": {"name": "answer_question", "args": {"answer": "2025"}},
                }
            ]
        },
        [{"type": "response", "args": "2025"}],
        {"decisions": [{"type": "reject", "args": "2025"}]},
        [{"type": "edit", "args": {"action": "answer_question", "args": {"answer": "2025"}}}],
    ],
    ids=lambda reply: f"{reply!r:.40}",
)
def test_each_client_answers_a_question(reply: Any):
    decision = read_decision(reply, QUESTION)

    assert (decision.kind, decision.message) == ("respond", "2025")


@pytest.mark.parametrize("words", ["no", "approve", "reject: it", "{not json", '["a", "b"]'])
def test_any_words_are_an_answer_to_a_question(words: str):
    decision = read_decision(words, QUESTION)

    assert (decision.kind, decision.message) == ("respond", words)


@pytest.mark.parametrize("reply", ["", None, {"type": "approve"}, {"answer": " "}])
def test_an_approval_or_nothing_is_no_answer(reply: Any):
    assert read_decision(reply, QUESTION).kind == "unclear"


def test_an_object_that_is_no_decision_is_an_answer_to_a_question():
    decision = read_decision({"type": "invoice", "year": 2025}, QUESTION)

    assert (decision.kind, decision.message) == ("respond", '{"type": "invoice", "year": 2025}')


def test_a_question_may_be_declined_with_a_reason():
    decision = read_decision({"type": "reject", "message": "I do not know"}, QUESTION)

    assert (decision.kind, decision.message) == ("reject", "I do not know")


def test_edited_arguments_of_a_tool_regain_the_types_that_they_had():
    args = {"to": "7", "copies": "3"}

    decision = read_decision(
        {"type": "edit", "edited_action": {"name": "send", "args": args}}, TOOL
    )

    assert decision.args == {"to": "7", "copies": 3}


def test_bare_fields_are_no_approval_of_a_tool_call():
    assert read_decision({"to": "a@b.c", "copies": 1}, TOOL).kind == "unclear"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "decisions", "args", "accept", "plan", "reject", "answer"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(JSON, st.sampled_from([PLAN, QUESTION, TOOL]), st.booleans())
def test_no_reply_raises(reply: Any, request: dict[str, Any], is_text: bool):
    read_decision(json.dumps(reply) if is_text else reply, request)


NEGATIVE = st.sampled_from(["no", "not", "don't", "never", "stop", "without", "except", "reject"])
POSITIVE = st.sampled_from(["yes", "approve", "ok", "go ahead", "looks good", "run it", "LGTM"])


@given(st.lists(POSITIVE, max_size=4), NEGATIVE, st.lists(POSITIVE, max_size=4))
def test_words_with_a_negation_never_approve(before: list[str], no: str, after: list[str]):
    words = " ".join([*before, no, *after])

    assert read_decision(words, PLAN).kind in ("reject", "unclear")


DECISIONS = st.sampled_from(sorted(TYPES)).map(lambda kind: {"type": kind, "args": None})


@given(st.lists(DECISIONS), st.sampled_from(["reject", "ignore"]), st.lists(DECISIONS))
def test_decisions_with_a_rejection_never_approve(before: list[Any], no: str, after: list[Any]):
    decisions = [*before, {"type": no}, *after]

    for request in (PLAN, TOOL):
        assert read_decision({"decisions": decisions}, request).kind == "reject"


@given(st.text(min_size=1).filter(lambda why: why not in ("false",)), st.booleans())
def test_a_form_with_a_reason_against_it_never_approves(why: str, accept: bool):
    assert read_decision({"accept": accept, "reject": why}, PLAN).kind == "reject"


@given(st.dictionaries(st.sampled_from(["type", "decisions", "accept", "plan"]), JSON))
def test_an_object_that_objects_never_approves(fields: dict[str, Any]):
    assert read_decision({**fields, "reject": "why"}, PLAN).kind not in ("approve", "edit")
    assert read_decision({**fields, "accept": False}, PLAN).kind not in ("approve", "edit")


@pytest.mark.parametrize("reply", [{"type": "approve"}, {"decisions": [{"type": "approve"}]}])
def test_a_decision_beside_an_objection_does_not_approve(reply: dict[str, Any]):
    assert read_decision({**reply, "reject": "too dear"}, PLAN).kind == "reject"
    assert read_decision({**reply, "accept": False}, PLAN).kind == "unclear"


def test_a_reply_that_is_nested_too_deeply_is_unclear() -> None:
    deep: dict[str, object] = {}
    for _ in range(2_000):
        deep = {"args": deep}

    for reply in (deep, [deep], {"answer": deep}):
        assert "nested too deeply" in read_decision(reply, TOOL).message


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
