"""What counts as shown, right and named in the questions to a run without a model."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.keyless.asked import is_right
from tests.benchmarks.keyless.questions import (
    Question,
    QuestionInvalid,
    check_question,
    read_questions,
)
from tests.benchmarks.keyless.scores import Result, score
from tests.benchmarks.keyless.texts import find_fact

SAMPLE = Path(__file__).parents[1] / "benchmarks" / "samples" / "keyless"
DOCUMENTS = SAMPLE / "documents"
SHIPPED = Path(__file__).parents[1] / "benchmarks" / "keyless" / "questions" / "questions.jsonl"
FEE, SUM, LONGEST, COST = read_questions(SAMPLE / "questions.jsonl")
RIGHT_SUM = "The sum of length_m is 21.5, rows with harbour North, boats.csv"


def judge(question: Question, text: str, status: str = "done") -> str:
    return score(question, Result(status, text), DOCUMENTS).verdict


@pytest.mark.parametrize("shown", ["21.5", "21.50", "+21.5", "| 21.5 |"])
def test_a_number_is_right_however_it_is_written(shown: str) -> None:
    assert judge(SUM, RIGHT_SUM.replace("21.5", shown)) == "right"


@pytest.mark.parametrize("shown", ["121.5", "21.55", "21", "21.5.1", "x21.5", "2,150", "21.6"])
def test_another_number_is_wrong_as_done(shown: str) -> None:
    assert score(SUM, Result("done", RIGHT_SUM.replace("21.5", shown)), DOCUMENTS).is_wrong_as_done


def test_an_answer_names_column_condition_and_file() -> None:
    assert judge(SUM, RIGHT_SUM.replace("harbour ", "")) == "right"
    assert judge(SUM, RIGHT_SUM.replace("length_m", "it")) == "right, not named"
    assert judge(SUM, RIGHT_SUM.replace("boats.csv", "")) == "right, not named"
    named = Result("done", RIGHT_SUM.replace("boats.csv", ""), sources=("boats.csv",))
    assert score(SUM, named, DOCUMENTS).verdict == "right"


def test_facts_are_found_in_quoted_and_emphasized_lines() -> None:
    assert find_fact("14 euros a night", "> pays **14**\n> euros a `night`")
    assert judge(FEE, "> - A boat pays 14\n> euros", "passages") == "shown"
    assert judge(FEE, "A boat pays 114 dollars", "passages") == "not shown"


def test_what_no_file_answers_is_wrong_only_as_done() -> None:
    statuses = ("done", "passages", "partial", "needs_input", "failed")
    wrong = [score(COST, Result(status, ""), DOCUMENTS).is_wrong_as_done for status in statuses]

    assert wrong == [True, False, False, False, False]


@pytest.mark.parametrize(
    "question",
    [
        replace(FEE, facts=("33 euros",)),
        replace(FEE, facts=("short boat",)),
        replace(SUM, values=(21.6,)),
        replace(SUM, request="Is 21.5 the sum of length_m in North?"),
        replace(LONGEST, rivals="SELECT harbour FROM t"),
    ],
)
def test_a_question_that_its_documents_do_not_answer_is_refused(question: Question) -> None:
    with pytest.raises(QuestionInvalid):
        check_question(question, DOCUMENTS)


def test_each_shipped_question_says_what_a_right_answer_shows() -> None:
    questions = read_questions(SHIPPED)

    assert len({question.id for question in questions}) == len(questions)
    assert all(question.facts for question in questions if question.kind == "document")
    assert all(
        question.sql and question.values for question in questions if question.kind == "table"
    )


@pytest.mark.parametrize(
    ("right", "summary", "rows", "is_shown"),
    [
        (5, "Number of rows: **5**.\n\nFrom a.csv; 9 of 9 rows used.", 1, True),
        (9, "Number of rows: **5**.\n\nFrom a.csv; 9 of 9 rows used.", 1, False),
        (1230.25, "Summe von Umsatz: **1.230,25**.", 1, True),
        (0.41, "Share in percent: **41 percent**.", 1, True),
        (["Ada"], "**Names**\n\n| Ada |\n| Bo |", 2, False),
        (["Ada", "Bo"], "**Names**\n\n| Ada |\n| Bo |", 2, True),
        ({"North": 2}, "**Sum**\n\n| North | 2 |\n| South | 3 |", 2, True),
    ],
)
def test_an_answer_on_a_table_is_right_if_it_shows_that_and_no_more_rows(
    right: object, summary: str, rows: int, is_shown: bool
) -> None:
    assert is_right(right, {"summary": summary, "rows": [[]] * rows}) is is_shown
