"""How an answer finds its question."""

import json
from typing import Any

import pytest

from graph.runs.questions import build_answer_command
from graph.topology.answers import AnswerUnclear

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
    assert build_answer_command("one", questions, answer).resume == resume


@pytest.mark.parametrize("questions", [[PRICES], [PRICES, ORIGIN]])
def test_a_misspelt_task_is_refused_with_the_tasks_that_wait(questions: list[Any]):
    with pytest.raises(AnswerUnclear) as refused:
        build_answer_command("one", questions, json.dumps({"pricess": "with tax"}))

    line = refused.value.format_line()
    assert refused.value.exit_code == 2
    assert "'pricess'" in line and all(asked["task"] in line for asked in questions)


def test_an_object_without_a_name_is_refused_where_several_wait():
    with pytest.raises(AnswerUnclear, match="2 questions open, and the answer names none"):
        build_answer_command("one", [PRICES, ORIGIN], "{}")
