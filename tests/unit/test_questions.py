"""Open questions of a run: in its stream, as they are shown, and how an answer finds its own."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Interrupt

from graph.display.summary import format_question
from graph.topology.answers import AnswerUnclear, QuestionParts, assign_answer

PRICES = {"id": "i1", "kind": "question", "task": "prices", "question": "With tax?"}
ORIGIN = {"id": "i2", "kind": "question", "task": "origin", "question": "Which country?"}
PLAN = {"id": "i3", "kind": "plan", "plan": {}}


@pytest.mark.parametrize(
    ("questions", "answer", "resume"),
    [
        ([PRICES], "with tax", {"i1": "with tax"}),
        ([PRICES], "19", {"i1": "19"}),
        ([PRICES], '{"prices": "with tax"}', {"i1": "with tax"}),
        ([PLAN], '{"goal": "g", "tasks": []}', {"i3": '{"goal": "g", "tasks": []}'}),
        ([PRICES, ORIGIN], '{"origin": "Peru"}', {"i2": "Peru"}),
        ([PRICES, ORIGIN], '{"i2": "Peru", "prices": "19"}', {"i2": "Peru", "i1": "19"}),
        ([PRICES, ORIGIN], "with tax", {"i1": "with tax"}),
        ([PRICES, ORIGIN], "[" * 10_000, {"i1": "[" * 10_000}),
        ([PRICES], '{"answer": "with tax"}', {"i1": '{"answer": "with tax"}'}),
    ],
)
def test_an_answer_goes_to_its_question(questions: list[Any], answer: str, resume: Any):
    assert assign_answer(answer, questions) == resume


@pytest.mark.parametrize("questions", [[PRICES], [PRICES, ORIGIN]])
def test_a_misspelt_task_is_refused_with_the_tasks_that_wait(questions: list[Any]):
    with pytest.raises(AnswerUnclear) as refused:
        assign_answer(json.dumps({"pricess": "with tax"}), questions)

    line = refused.value.format_line()
    assert refused.value.exit_code == 2
    assert "'pricess'" in line and all(asked["task"] in line for asked in questions)


def test_an_object_without_a_name_is_refused_where_several_wait():
    with pytest.raises(AnswerUnclear, match="2 questions open, and the answer names none"):
        assign_answer("{}", [PRICES, ORIGIN])


ASKED = Interrupt(value={"kind": "question"}, id="one")
QUESTION = AIMessage("With or without tax?", id="question-one")


def place_values(values: Any, *, modes: Any, subgraphs: bool) -> Any:
    place: list[Any] = [
        *([()] if subgraphs else []),
        *([] if isinstance(modes, str) else ["values"]),
    ]
    return (*place, values) if place else values


@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize("modes", ["values", ["values", "custom"]])
def test_questions_come_once_with_the_last_values(modes: Any, subgraphs: bool) -> None:
    parts = QuestionParts(stream_mode=modes, subgraphs=subgraphs)
    first: dict[str, Any] = {"__interrupt__": (ASKED,), "messages": []}
    asked = place_values(first, modes=modes, subgraphs=subgraphs)
    last = place_values({"messages": []}, modes=modes, subgraphs=subgraphs)

    shown = [*parts.hold_questions(asked), *parts.hold_questions(last)]
    (after,) = parts.build_last_parts([QUESTION])

    expected = {"messages": [QUESTION], "__interrupt__": (ASKED,)}
    assert shown == [last]
    assert after == place_values(expected, modes=modes, subgraphs=subgraphs)


def test_a_stream_of_messages_ends_with_the_question() -> None:
    parts = QuestionParts(stream_mode=["messages"])

    ((mode, (message, _)),) = parts.build_last_parts([QUESTION])

    assert (mode, message) == ("messages", QUESTION)


def test_the_last_checkpoint_of_a_stream_with_subgraphs_is_that_of_the_run() -> None:
    parts = QuestionParts(stream_mode=["debug"], subgraphs=True)
    waiting = {"type": "checkpoint", "payload": {"next": ["worker"], "tasks": [{"id": "1"}]}}
    ended = {"type": "checkpoint", "payload": {"next": [], "tasks": []}}
    asked = {"type": "task_result", "payload": {"id": "1", "interrupts": [{"id": "one"}]}}

    for place, event in [((), waiting), ((), asked), (("worker:2",), ended)]:
        assert list(parts.hold_questions((place, "debug", event))) == [(place, "debug", event)]

    assert list(parts.build_last_parts([])) == [((), "debug", waiting), ((), "debug", asked)]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"stream_mode": "updates"}, {"supervisor": {"plan": None}}),
        ({"stream_mode": None}, {"supervisor": None}),
        ({"stream_mode": ["values", "updates"]}, ("updates", {"__interrupt__": (ASKED,)})),
        (
            {"stream_mode": ["values"], "subgraphs": True},
            (("worker:1",), "values", {"__interrupt__": (ASKED,)}),
        ),
        ({"stream_mode": "values", "version": "v2"}, {"type": "values", "data": {}}),
    ],
)
def test_other_parts_are_unchanged(options: dict[str, Any], part: Any) -> None:
    parts = QuestionParts(**options)

    assert list(parts.hold_questions(part)) == [part]
    assert list(parts.build_last_parts([QUESTION])) == []


def show_call(**args: Any) -> str:
    question = {"kind": "tool_call", "task": "a", "worker": "clerk", "tool": "mcp:s/post"}
    return format_question({**question, "call_args": args})[0]


def test_a_long_argument_hides_no_other_and_says_how_much_is_left_out() -> None:
    line = show_call(note="x" * 100_000, recipient="eve@evil.example", rows=list(range(1_000)))

    assert '"recipient": "eve@evil.example"' in line
    assert "… and 99,334 characters more" in line
    assert len(line) < 3_000


def test_short_arguments_are_shown_as_they_are() -> None:
    assert show_call(n=3, text="hi") == 'a clerk wants to call mcp:s/post {"n": 3, "text": "hi"}'


def test_an_argument_cannot_hide_itself_by_control_characters() -> None:
    assert "\x1b" not in show_call(text="\x1b[2Khidden\u202e") and "hidden" in show_call(t="hidden")
