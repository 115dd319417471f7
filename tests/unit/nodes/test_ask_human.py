"""The node that asks a human about one task."""

from functools import partial
from typing import Any

import pytest

from nodes.ask_human import ask_human
from nodes.execution.dispatch import Dispatch
from nodes.human.request import MAX_UNUSABLE_REPLIES
from state import RecoveryAction, Report, WorkerState
from tests.node_runs import run_until_interrupt
from tests.node_samples import make_attempt, make_escalated_report, make_report, make_worker_state

CHANGE = RecoveryAction(rung="human", worker="researcher", tier="standard")


async def ask(state: WorkerState, *replies: Any) -> tuple[list[Any], dict[str, Any]]:
    node = partial(ask_human, dispatch=Dispatch(steps_at_start=9))
    questions, result, _ = await run_until_interrupt(node, WorkerState, state, *replies)
    return questions, result


@pytest.mark.parametrize(
    ("report", "problem", "question", "partial"),
    [
        (
            make_escalated_report("ambiguous_input", "Which year?"),
            "",
            "Which year?",
            "Two of three.",
        ),
        (
            make_report(),
            "No year.",
            "No year. What is missing, or what should be looked for instead?",
            "Result A.",
        ),
    ],
)
async def test_the_question_is_the_workers_message_or_the_problem_and_what_it_found(
    report: Report, problem: str, question: str, partial: str
):
    state = make_worker_state(attempts=[make_attempt(report)], change=CHANGE, problem=problem)

    (asked,), _ = await ask(state)

    assert asked["kind"] == "question" and asked["task"] == "A"
    assert (asked["question"], asked["partial"]) == (question, partial)


async def test_after_too_many_empty_answers_the_worker_continues_without():
    state = make_worker_state(attempts=[make_attempt()], change=CHANGE, problem="Which year?")

    questions, result = await ask(state, *[""] * MAX_UNUSABLE_REPLIES)

    assert len(questions) == MAX_UNUSABLE_REPLIES
    assert "declined to answer" in result["answers"]["Which year?"]


@pytest.mark.parametrize(
    ("replies", "answer"),
    [
        ([" 2025 "], "2025"),
        ([" ", {"decisions": [{"type": "respond", "message": "7"}]}], "7"),
        ([[{"type": "ignore", "args": None}]], "(the human declined to answer)"),
    ],
    ids=["at once", "empty at first", "declined"],
)
async def test_the_answer_is_kept_beside_the_earlier_ones(replies: list[Any], answer: str):
    state = make_worker_state(
        attempts=[make_attempt()], change=CHANGE, problem="Which year?", answers={"Shop?": "B"}
    )

    questions, result = await ask(state, *replies)

    assert result["answers"] == {"Shop?": "B", "Which year?": answer}
    for again in questions[1:]:
        assert again["problems"] == ["the reply is unclear: the answer is empty"]
