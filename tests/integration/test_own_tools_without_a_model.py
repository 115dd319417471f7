"""A team's own tools without a language model: the right arguments, or a gap that names one."""

from pathlib import Path

import pytest

from graph import Outcome, resume, run
from graph.settings import Settings
from state import Context

TEAM = "---\ndescription: Answers questions on money.\n---\nGive the clerk the question.\n"
WORKER = """---
description: Computes loans and what is affordable.
tools: [{tool}]
---
Call the tool and report its result.
"""
LOAN = '''"""Compute a loan."""

from typing import Annotated

from langchain_core.tools import tool
from pydantic import Field

ACCESS = {{"reads": [], "sends": "nothing"}}


@tool
def loan(amount: {amount}, rate_percent: {rate}, years: {years}) -> float:
    """Compute the monthly payment of a loan."""
    month = rate_percent / 1200
    return round(amount * month / (1 - (1 + month) ** -(12 * years)), 2)
'''
PLAIN = LOAN.format(amount="float", rate="float", years="int")
DESCRIBED = LOAN.format(
    amount='Annotated[float, Field(description="Amount of the loan")]',
    rate='Annotated[float, Field(description="Yearly interest rate in percent")]',
    years='Annotated[int, Field(description="Term in years")]',
)
NO_PARAMETERS = '''"""Return the key rate."""

from langchain_core.tools import tool

ACCESS = {"reads": [], "sends": "nothing"}


@tool
def key_rate() -> float:
    """Return the key rate."""
    return 2.15
'''
MANY = NO_PARAMETERS.replace(
    "key_rate()", "key_rate(" + ", ".join(f"number_{n}_eur: float = 0" for n in range(30)) + ")"
)
PAYMENT = "What is the monthly payment of a loan of {} at 3.5 percent over 20 years?"
RIGHT = ("1159.92", "1,159.92")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database_url=f"sqlite:///{tmp_path / 'runs.sqlite'}")


def write_team(folder: Path, tool: str, text: str) -> Path:
    (folder / "tools").mkdir(parents=True)
    (folder / "team.md").write_text(TEAM)
    (folder / "clerk.md").write_text(WORKER.format(tool=tool))
    (folder / "tools" / f"{tool}.py").write_text(text)
    return folder


def read_texts(outcome: Outcome) -> str:
    answer = outcome.answer
    asked = [str(question) for question in outcome.questions]
    return " ".join([str(outcome.error), *asked, *(answer.gaps if answer else ()), str(answer)])


@pytest.mark.parametrize(("text", "amount"), [(PLAIN, "200000 EUR"), (DESCRIBED, "EUR 200,000")])
def test_a_loan_is_computed_from_the_numbers_beside_their_words(
    tmp_path: Path, settings: Settings, text: str, amount: str
):
    team = write_team(tmp_path / "money", "loan", text)

    outcome = run(PAYMENT.format(amount), team=team, settings=settings)

    assert outcome.status == "done"
    assert any(each in str(outcome.answer) for each in RIGHT)


def test_a_loan_whose_numbers_are_not_clear_is_not_computed_and_a_gap_names_what_is_missing(
    tmp_path: Path, settings: Settings
):
    team = write_team(tmp_path / "money", "loan", PLAIN)

    outcome = run(
        "A loan of 200000 EUR at 3.5 percent over 240 months", team=team, settings=settings
    )

    assert outcome.status not in ("done", "passages")
    assert "loan was not called: without a language model its argument" in read_texts(outcome)


@pytest.mark.parametrize("text", [NO_PARAMETERS, MANY], ids=["none", "thirty"])
def test_a_tool_that_needs_no_argument_is_called_for_a_request_that_names_it(
    tmp_path: Path, settings: Settings, text: str
):
    team = write_team(tmp_path / "money", "key_rate", text)

    outcome = run("What is the key rate?", team=team, settings=settings)

    assert outcome.status == "done" and "2.15" in str(outcome.answer)


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [("20", "done", "1159.92"), ("as you like", "partial", "The answer changes no call")],
)
def test_the_answer_of_a_human_fills_the_argument_or_is_said_to_change_nothing(
    tmp_path: Path, settings: Settings, answer: str, status: str, text: str
):
    team = write_team(tmp_path / "money", "loan", PLAIN)
    asked = run(
        "What is the monthly payment of a loan of 200000 EUR at 3.5 percent?",
        team=team,
        settings=settings,
        context=Context(ask_human=True),
    )

    (question,) = asked.questions
    assert "its argument years" in question["question"] and "?" in question["question"]
    outcome = resume(asked.thread, answer=answer, team=team, settings=settings)

    assert outcome.status == status and text in read_texts(outcome)
