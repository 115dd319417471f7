"""The node that asks a human about one task."""

from functools import partial
from typing import Any

from nodes.ask_human import ask_human
from nodes.execution.dispatch import Dispatch
from nodes.human.request import MAX_UNUSABLE_REPLIES
from state import RecoveryAction, WorkerState
from tests.node_runs import run_until_interrupt
from tests.node_samples import make_attempt, make_escalated_report, make_report, make_worker_state

CHANGE = RecoveryAction(rung="human", worker="researcher", tier="standard")


async def ask(state: WorkerState, *replies: Any) -> tuple[list[Any], dict[str, Any]]:
    node = partial(ask_human, dispatch=Dispatch(steps_at_start=9))
    questions, result, _ = await run_until_interrupt(node, WorkerState, state, *replies)
    return questions, result


async def test_the_question_is_the_workers_message_and_what_it_found():
    attempt = make_attempt(make_escalated_report("ambiguous_input", "Which year?"))
    state = make_worker_state(attempts=[attempt], change=CHANGE, problem="")

    (question,), _ = await ask(state)

    assert question["kind"] == "question" and question["task"] == "A"
    assert (question["question"], question["partial"]) == ("Which year?", "Two of three.")


async def test_without_an_escalation_the_problem_is_the_question():
    state = make_worker_state(
        attempts=[make_attempt(make_report())], change=CHANGE, problem="No year."
    )

    (question,), _ = await ask(state)

    asked = "No year. What is missing, or what should be looked for instead?"
    assert (question["question"], question["partial"]) == (asked, "Result A.")


async def test_the_answer_is_kept_beside_the_earlier_ones():
    state = make_worker_state(
        attempts=[make_attempt()], change=CHANGE, problem="Which year?", answers={"Shop?": "B"}
    )

    _, result = await ask(state, " 2025 ")

    assert result["answers"] == {"Shop?": "B", "Which year?": "2025"}


async def test_an_empty_answer_is_asked_for_again_with_the_reason():
    state = make_worker_state(attempts=[make_attempt()], change=CHANGE, problem="Which year?")

    questions, result = await ask(state, " ", {"decisions": [{"type": "respond", "message": "7"}]})

    assert questions[1]["problems"] == ["the reply is unclear: the answer is empty"]
    assert result["answers"] == {"Which year?": "7"}


async def test_a_worker_learns_that_a_human_declined_to_answer():
    state = make_worker_state(attempts=[make_attempt()], change=CHANGE, problem="Which year?")

    _, result = await ask(state, [{"type": "ignore", "args": None}])

    assert result["answers"] == {"Which year?": "(the human declined to answer)"}


async def test_after_too_many_empty_answers_the_worker_continues_without():
    state = make_worker_state(attempts=[make_attempt()], change=CHANGE, problem="Which year?")

    questions, result = await ask(state, *[""] * MAX_UNUSABLE_REPLIES)

    assert len(questions) == MAX_UNUSABLE_REPLIES
    assert "declined to answer" in result["answers"]["Which year?"]
