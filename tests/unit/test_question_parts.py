"""Open questions in a run's stream, after LangGraph's last part has left them out."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Interrupt

from graph.topology.chat_questions import QuestionParts

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
