"""The status `passages`: documents are quoted, and no language model has read them."""

from typing import Any

import pytest

from extensions.mcp.server.tools import build_result
from extensions.remote.output import read_report
from graph.commands.run import print_outcome
from graph.runs.outcome import Outcome
from graph.runs.pruning import PruneSelection
from nodes.planning.request import is_new_request
from nodes.planning.team_record import require_same_team
from nodes.recovery.ladder import get_escalation_reason
from nodes.synthesis.delivery import write_chat_message
from nodes.synthesizer import needs_review
from nodes.text.markdown import format_answer
from nodes.text.phrases import PHRASES
from state import Answer, RunStatus
from tests.node_runs import make_config
from tests.node_samples import make_plan, make_planned_state, make_report
from tests.screen import run_supervise
from tests.teams import make_team

ENGLISH = PHRASES["en"]

QUOTE = "> The juice keeps 18 months."
ANSWER = Answer(text=f"{ENGLISH['passages']}\n\n{QUOTE}", is_unread=True)


def make_outcome(status: RunStatus) -> Outcome:
    return Outcome(thread="juice", status=status, answer=ANSWER)


def print_quietly(status: RunStatus, require: RunStatus | None) -> int:
    outcome = make_outcome(status)
    how: dict[str, Any] = {"as_json": True, "quiet": True, "require": require}
    return print_outcome(outcome, outcome.to_json(), **how)


@pytest.mark.parametrize(
    ("status", "require", "code"),
    [
        ("passages", None, 0),
        ("passages", "done", 3),
        ("done", "done", 0),
        ("partial", "done", 3),
        ("needs_input", "done", 7),
    ],
)
def test_passages_are_a_success_unless_an_answer_is_required(
    capsys: pytest.CaptureFixture[str], status: RunStatus, require: RunStatus | None, code: int
) -> None:
    assert print_quietly(status, require) == code

    said = capsys.readouterr().err
    words = ENGLISH["status_passages"]
    assert (f"not done: {words}" in said) == (status == "passages" and code == 3)


def test_only_done_can_be_required(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_supervise("resume", "juice", "--require", "partial") == 2
    assert "--require" in capsys.readouterr().err


def test_the_terminal_says_in_words_what_came_of_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcome = make_outcome("passages")

    print_outcome(outcome, outcome.to_json(), as_json=False, quiet=False)

    shown = capsys.readouterr()
    assert "thread juice · passages" in shown.err
    assert QUOTE.lstrip("> ") in shown.out and "onfidence" not in shown.out


def test_a_chat_names_the_status_and_no_confidence() -> None:
    shown = write_chat_message(ANSWER, "passages")

    assert shown.endswith(f"**Status:** {ENGLISH['status_passages']}") and "Confidence" not in shown


def test_a_confidence_that_a_model_left_out_is_unknown_and_one_that_none_had_is_not_named() -> None:
    rated = {"text": "It is so.", "unrated": ["a"]}

    assert "**Confidence:** unknown" in format_answer(rated)
    assert "Confidence" not in format_answer({"text": "It is so."})


def test_another_program_gets_the_status_in_words_and_as_a_field() -> None:
    result = build_result(make_outcome("passages"))

    assert result.structuredContent is not None
    assert result.structuredContent["status"] == "passages"
    assert result.structuredContent["answer"]["confidence"] is None
    assert ENGLISH["status_passages"] in result.content[0].text  # type: ignore[union-attr]  # it is a text


def test_what_another_server_only_quotes_is_unread_here_and_lacks_nothing() -> None:
    report = read_report({"answer": {"text": QUOTE}, "status": "passages"})

    assert report.is_unread and not report.is_partial
    partial = {"answer": {"text": QUOTE, "is_unread": True}, "status": "partial"}
    assert read_report(partial).is_unread and read_report(partial).is_partial
    message = {"type": "ai", "content": write_chat_message(ANSWER, "passages")}
    assert read_report({"messages": [message]}).is_unread


def test_a_run_that_ended_as_passages_is_over() -> None:
    state = make_planned_state(make_plan(), {"A": make_report("A", is_unread=True)})
    ended: Any = {**state, "status": "passages", "answer": ANSWER}

    assert is_new_request(ended)
    assert require_same_team(make_team("writer"), ended) == []
    assert (
        "passages" in PruneSelection.from_options(older_than="1d", keep=None, status=None).statuses
    )


def test_a_report_without_a_confidence_is_no_doubt_and_needs_no_other_worker() -> None:
    report = make_report("A", is_unread=True)

    assert get_escalation_reason(report, min_confidence=90) is None


@pytest.mark.parametrize(("critic", "is_reviewed"), [("below", False), ("on", True)])
def test_passages_claim_no_confidence_that_a_critic_could_doubt(
    critic: Any, is_reviewed: bool
) -> None:
    team = make_team(critic=critic)

    assert needs_review(team, ANSWER, make_config(), judge="openai:gpt-5") == is_reviewed
