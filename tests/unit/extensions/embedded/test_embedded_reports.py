"""What the built-in model reports and answers: what tools gave, and nothing beyond."""

import json
from typing import Any

import pytest

from extensions.embedded.reporting import write_answer, write_report
from extensions.embedded.work import AnsweredCall
from nodes.prompts.tags import shorten_text
from nodes.schemas.handoff import AnswerValues
from state import Answer, Claim, Escalation, Report
from tests.unit.extensions.embedded.embedded_runs import make_work

AWS = "AWS had net sales of 107,556 million USD in 2024."
FAILURE = "check_text failed: reading took longer than 60 s"
ANSWERED = ("success", '{"summary": "a is fine."}')


def make_report(
    *answers: tuple[str, str],
    words: str = "Check the net sales.",
    arguments: dict[str, Any] | None = None,
    **handoff: Any,
) -> Report:
    """Report after calls of a tool that had these statuses and texts."""
    calls = [
        AnsweredCall("check_text", arguments or {"material": f"{n}"}, text, status == "error")
        for n, (status, text) in enumerate(answers)
    ]
    return Report.model_validate(write_report(make_work(words, *calls, **handoff), ()))


def search(*texts: str) -> tuple[str, str]:
    found = [{"source": "amazon.md", "place": "Sales", "text": text} for text in texts]
    return "success", json.dumps({"results": found})


def make_answer(*reports: Report, **more: Any) -> Answer:
    return Answer.model_validate(
        write_answer(AnswerValues("What were the sales?", reports, **more))
    )


def test_passages_are_quoted_whole_with_file_and_heading_and_without_confidence() -> None:
    report = make_report(search(f"{AWS}\n- a list item", "Another passage."))

    assert AWS in report.output and "- a list item" in report.output
    assert "amazon.md" in report.output and "Sales" in report.output
    assert report.is_unread and report.confidence is None
    assert report.claims[0] == Claim(
        text=f"{AWS}\n- a list item", source="amazon.md", quotation=f"{AWS}\n- a list item"
    )


def test_three_passages_are_shown_each_once() -> None:
    report = make_report(search("one", "two", "one"), search("two", "three", "four"))

    assert [claim.text for claim in report.claims] == ["one", "two", "three"]


def test_of_two_searches_each_has_its_best_passages_shown() -> None:
    calls = [
        AnsweredCall("search_documents", {"query": query}, search(*texts)[1])
        for query, texts in (("mast", ("one", "two", "three")), ("sail", ("four", "one", "five")))
    ]
    report = Report.model_validate(
        write_report(make_work("Where is the mast? Where is the sail?", *calls), ())
    )

    assert [claim.text for claim in report.claims] == ["one", "four", "two", "three"]


def test_a_computed_result_is_shown_as_the_tool_words_it_and_is_not_unread() -> None:
    rows = {"summary": "AWS: **107,556**.", "columns": ["a"], "rows": [[1]], "is_complete": True}
    found = {**rows, "results": [{"source": "a.csv", "text": "a: 1"}]}

    report = make_report(("success", json.dumps(found)))

    assert report.output == "AWS: **107,556**." and not report.is_unread
    assert report.claims == (Claim(text="a: 1", source="a.csv"),)
    assert report.confidence is None and not report.failures


@pytest.mark.parametrize("summary", ["5", ""])
def test_what_a_table_question_left_open_is_a_gap_or_all_that_there_is_to_say(summary: str) -> None:
    gap = "no column “rent”; there are a, b"
    found = {"summary": summary, "is_complete": False, "gaps": [gap]}

    report = make_report(("success", json.dumps(found)))

    if summary:
        assert report.failures == report.gaps == (gap,)
    else:
        assert report.escalation == Escalation(reason="ambiguous_input", message=gap)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (("error", FAILURE), FAILURE),
        (
            ("success", shorten_text('{"summary": "' + AWS * 100, 1000)),
            "check_text failed: its answer was too long to be read",
        ),
    ],
)
def test_a_tool_that_failed_makes_the_task_failed_or_is_a_gap_beside_another(
    answer: tuple[str, str], said: str
) -> None:
    alone, beside = make_report(answer), make_report(ANSWERED, answer)

    assert alone.status == "failed" and alone.output == said and not alone.claims
    assert beside.status == "completed" and beside.output == "a is fine."
    assert beside.gaps == (said,)


@pytest.mark.parametrize(
    ("answers", "artifacts", "reason", "message"),
    [
        (
            [("success", '{"results": []}')],
            {"a.md": "x"},
            "ambiguous_input",
            "Nothing in a.md has the words of the request; more, such as a summary, needs a"
            " language model",
        ),
        ([], {}, "out_of_scope", "This part needs a language model: Write a slogan"),
        (
            [
                ANSWERED,
                (
                    "success",
                    '{"escalation": {"reason": "ambiguous_input", "message": "Which year?"}}',
                ),
            ],
            {},
            "ambiguous_input",
            "Which year?",
        ),
    ],
)
def test_a_task_without_a_result_is_escalated_with_the_cause(
    answers: list[tuple[str, str]], artifacts: dict[str, str], reason: Any, message: str
) -> None:
    report = make_report(*answers, words="Write a slogan.", artifacts=artifacts)

    assert report.status == "escalated"
    assert report.escalation == Escalation(reason=reason, message=message)


def test_the_nearest_rows_of_a_question_that_no_table_answers_are_what_was_found_so_far() -> None:
    row = {"text": "show: Late Brass", "source": "shows.csv"}
    nearest = {"text": "| Late Brass |", "results": [row]}
    unread = {"summary": "", "gaps": ["nothing fits “stop”"], "nearest": nearest}

    report = make_report(("success", json.dumps(unread)), words="When did Late Brass stop?")

    assert report.status == "escalated"
    assert report.escalation and report.escalation.partial == "| Late Brass |"
    assert report.claims == (Claim(text="show: Late Brass", source="shows.csv"),)


def test_who_reads_documents_shows_the_rows_of_tables_for_words_that_no_document_has() -> None:
    rows = Report(task="tables", status="skipped", output="| C03 | 6 |", is_unread=True)
    results = [{"source": "rules.md", "place": "Entry", "text": "Free entry."}]
    found = json.dumps({"results": results, "absent": ["left"]})

    report = make_report(
        ("success", found),
        words="How many are left?",
        arguments={"query": "many left"},
        context=(rows,),
    )

    assert report.output.startswith("| C03 | 6 |") and "Free entry." in report.output


def test_the_nearest_rows_are_shown_before_passages() -> None:
    asked = Escalation(reason="ambiguous_input", message="?", partial="| Late Brass |")
    passages = Report(task="minutes", output="> Brass", is_unread=True)

    answer = make_answer(passages, Report(task="shows", status="escalated", escalation=asked))

    assert answer.text.split("\n\n")[1:] == [
        "| Late Brass |",
        "**Passages found; no language model has read them**",
        "> Brass",
    ]


def test_claims_that_a_tool_was_not_given_are_counted_in_a_gap() -> None:
    held = Report(
        task="a", claims=tuple(Claim(text=f"c{n}", source="s", quotation="q") for n in range(330))
    )

    given = [{"text": "c"}] * 300
    report = make_report(ANSWERED, arguments={"claims": given}, context=(held,))

    assert report.gaps == ("check_text was given the first 300 of 330 claims",)


def test_an_answer_of_a_form_of_its_own_is_quoted_and_cannot_end_its_code_block() -> None:
    lines = ["a", "```", *(f"Commit: {number:040x}" for number in range(40))]

    report = make_report(("success", "\n".join(lines)))

    assert report.output.startswith("check_text:\n\n````text\na\n```\n")
    assert report.output.endswith("\n````")
    assert report.gaps[0].startswith("check_text: the first 7")


def test_an_answer_shows_what_was_computed_before_passages_and_says_that_nobody_read_them() -> None:
    passages = Report(task="sales", output="> AWS", is_unread=True)
    computed = Report(task="growth", output="12 percent.")

    answer = make_answer(passages, computed)

    said, *parts = answer.text.split("\n\n")
    assert said.startswith("No language model is set up")
    assert parts == [
        "12 percent.",
        "**Passages found; no language model has read them**",
        "> AWS",
    ]
    assert answer.confidence is None and answer.unanswered == ()


def test_an_answer_of_teams_says_once_that_no_language_model_is_set_up() -> None:
    inner = make_answer(Report(task="searcher", output="> AWS", is_unread=True))
    outer = make_answer(Report(task="research", output=inner.text, is_unread=True))

    assert outer.text.count("No language model is set up") == 1
    assert outer.text.count("Passages found") == 1
    assert outer.text.endswith("> AWS")


def test_of_several_results_of_a_kind_each_has_its_heading() -> None:
    answer = make_answer(Report(task="growth", output="12"), Report(task="net_sales", output="7"))

    assert answer.text.split("\n\n")[1:] == ["## Growth", "12", "## Net sales", "7"]


def test_a_report_that_only_confirms_others_is_left_to_the_line_of_proofs() -> None:
    check = Report(task="check", output="6 claims checked.", found_as_expected=True)
    doubt = check.model_copy(update={"found_as_expected": None})
    computed = Report(task="growth", output="12 percent.")

    assert "checked" not in make_answer(computed, check).text
    assert "6 claims checked." in make_answer(computed, doubt).text
    assert "6 claims checked." in make_answer(check).text


def test_passages_that_two_tasks_found_are_shown_once() -> None:
    claim = Claim(text="p", source="a.md", quotation="p")
    reports = [
        Report(task=name, output=f"> {name}", claims=(claim,), is_unread=True) for name in "ab"
    ]

    assert "> b" not in make_answer(*reports).text


def test_an_answer_has_each_gap_once_and_the_sources_of_what_was_done() -> None:
    lost = Report(
        task="prices",
        status="escalated",
        escalation=Escalation(reason="out_of_scope", message="No prices"),
    )
    done = Report(task="a", output="1", claims=(Claim(text="1", source="a.csv"),))

    answer = make_answer(lost, done, missing=["No prices", "No prices"])

    assert answer.gaps == ("No prices",)
    assert answer.sources == ("a.csv",)


def test_the_words_of_an_answer_follow_the_request() -> None:
    answer = make_answer(
        Report(task="a", output="> x", is_unread=True),
        language="de",
    )

    assert "Passages found" not in answer.text and "Sprachmodell" in answer.text
