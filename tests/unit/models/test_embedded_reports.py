"""What the built-in model reports and answers: what tools gave, and nothing beyond."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from nodes.models.embedded import EmbeddedModel
from nodes.prompts.tags import shorten_text
from nodes.schemas.beside import AnswerValues, WorkValues, lay_beside
from nodes.schemas.handoff import Constraints, Handoff
from nodes.schemas.team import Worker
from state import Answer, Claim, Escalation, Report

AWS = "AWS had net sales of 107,556 million USD in 2024."
FAILURE = "check_text failed: reading took longer than 60 s"
WORKER = Worker(name="researcher", description="Finds facts.", instructions="Find.")
ANSWERED = ("success", '{"summary": "a is fine."}')


def make_report(
    *answers: tuple[str, str],
    words: str = "Check the net sales.",
    tool: str = "check_text",
    arguments: dict[str, Any] | None = None,
    **handoff: Any,
) -> Report:
    """Report after calls of a tool that had these statuses and texts."""
    calls = [
        {"name": tool, "args": arguments or {"material": f"{n}"}, "id": f"c{n}"}
        for n in range(len(answers))
    ]
    messages: list[AnyMessage] = [HumanMessage(words), AIMessage("", tool_calls=calls)]
    messages += [
        ToolMessage(text, tool_call_id=call["id"], status=status)
        for call, (status, text) in zip(calls, answers, strict=True)
    ]
    limits = Constraints(max_tokens=1000, timeout_s=60, tier="fast")
    given = Handoff(task="t1", to="researcher", intent=words, constraints=limits, **handoff)
    with lay_beside(WorkValues(WORKER, given, subject=words)):
        reply = EmbeddedModel().bind_tools([Report], tool_choice="any").invoke(messages)
    (call,) = reply.tool_calls
    return Report.model_validate(call["args"])


def search(*texts: str, place: str = "Sales") -> tuple[str, str]:
    found = [{"source": "amazon.md", "place": place, "text": text} for text in texts]
    return "success", json.dumps({"results": found})


def make_answer(*reports: Report, request: str = "What were the sales?", **more: Any) -> Answer:
    with lay_beside(AnswerValues(request, reports, **more)):
        model = EmbeddedModel().bind_tools([Answer], tool_choice="Answer")
        (call,) = model.invoke([HumanMessage(request)]).tool_calls
    return Answer.model_validate(call["args"])


def test_passages_are_quoted_whole_with_file_and_heading_and_without_confidence() -> None:
    report = make_report(search(f"{AWS}\n- a list item", "Another passage."))

    assert AWS in report.output and "- a list item" in report.output
    assert "amazon.md" in report.output and "Sales" in report.output
    assert report.is_unread and report.confidence is None
    assert report.claims[0] == Claim(
        text=f"{AWS}\n- a list item", source="amazon.md", quote=f"{AWS}\n- a list item"
    )


def test_three_passages_are_shown_each_once() -> None:
    report = make_report(search("one", "two", "one"), search("two", "three", "four"))

    assert [claim.text for claim in report.claims] == ["one", "two", "three"]


def test_a_computed_result_is_shown_as_the_tool_words_it_and_is_not_unread() -> None:
    rows = {"summary": "AWS: **107,556**.", "columns": ["a"], "rows": [[1]], "is_complete": True}
    found = {**rows, "results": [{"source": "a.csv", "text": "a: 1"}]}

    report = make_report(("success", json.dumps(found)))

    assert report.output == "AWS: **107,556**." and not report.is_unread
    assert report.claims == (Claim(text="a: 1", source="a.csv"),)
    assert report.confidence is None and not report.failures


def test_what_a_table_question_left_open_makes_the_report_partial() -> None:
    found = {"summary": "5", "is_complete": False, "gaps": ["“per head” was not read."]}

    report = make_report(("success", json.dumps(found)))

    assert report.failures == report.gaps == ("“per head” was not read.",)


def test_a_question_that_no_table_answers_is_escalated_in_the_words_of_the_tool() -> None:
    found = {"summary": "", "is_complete": False, "gaps": ["no column “rent”; there are a, b"]}

    report = make_report(("success", json.dumps(found)))

    assert report.status == "escalated" and report.escalation
    assert report.escalation.message == "no column “rent”; there are a, b"


def test_a_tool_that_failed_makes_the_task_failed() -> None:
    report = make_report(("error", FAILURE))

    assert report.status == "failed" and report.output == FAILURE and not report.claims


@pytest.mark.parametrize(
    ("other", "gap"),
    [
        (("error", FAILURE), FAILURE),
        (("error", "b holds no text"), "b holds no text"),
    ],
)
def test_what_another_call_gave_is_reported_with_the_failure_as_a_gap(
    other: tuple[str, str], gap: str
) -> None:
    report = make_report(ANSWERED, other)

    assert report.status == "completed" and report.output == "a is fine."
    assert report.gaps == (gap,)


def test_an_object_that_was_cut_is_not_read_as_prose() -> None:
    report = make_report(("success", shorten_text('{"summary": "' + AWS * 100, 1000)))

    assert report.output == "check_text failed: its answer was too long to be read"


def test_nothing_was_found_is_said_where_the_search_found_nothing_and_names_the_files() -> None:
    report = make_report(("success", '{"results": []}'), artifacts={"a.md": "x"})

    assert report.escalation == Escalation(
        reason="ambiguous_input", message="Nothing was found in a.md"
    )


def test_a_worker_without_a_call_says_that_its_part_needs_a_language_model() -> None:
    report = make_report(words="Write a slogan.")

    assert report.status == "escalated" and report.escalation
    assert report.escalation.message == "This part needs a language model: Write a slogan"


def test_an_escalation_of_a_tool_comes_before_what_others_found() -> None:
    unclear = {"escalation": {"reason": "ambiguous_input", "message": "Which year?"}}

    report = make_report(ANSWERED, ("success", json.dumps(unclear)))

    assert report.escalation == Escalation(reason="ambiguous_input", message="Which year?")


def test_claims_that_a_tool_was_not_given_are_counted_in_a_gap() -> None:
    held = Report(task="a", claims=tuple(Claim(text=f"c{n}", source="s") for n in range(330)))

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
        "## Growth",
        "12 percent.",
        "**Passages found; no language model has read them**",
        "## Sales",
        "> AWS",
    ]
    assert answer.confidence is None and answer.unanswered == ()


def test_a_single_report_needs_no_heading() -> None:
    assert make_answer(Report(task="a", output="12.")).text.endswith("files.\n\n12.")


def test_passages_that_two_tasks_found_are_shown_once() -> None:
    claim = Claim(text="p", source="a.md", quote="p")
    reports = [
        Report(task=name, output=f"> {name}", claims=(claim,), is_unread=True) for name in "ab"
    ]

    assert "> b" not in make_answer(*reports).text


def test_an_answer_names_tasks_without_a_result_and_the_sources_of_the_others() -> None:
    lost = Report(
        task="prices",
        status="escalated",
        escalation=Escalation(reason="out_of_scope", message="No prices"),
    )
    done = Report(task="a", output="1", claims=(Claim(text="1", source="a.csv"),))

    answer = make_answer(lost, done, missing=["the web was not reached"])

    assert answer.gaps == ("the web was not reached", "prices: No prices")
    assert answer.sources == ("a.csv",)


def test_the_words_of_an_answer_follow_the_request() -> None:
    answer = make_answer(
        Report(task="a", output="> x", is_unread=True),
        language="de",
    )

    assert "Passages found" not in answer.text and "Sprachmodell" in answer.text


def test_without_values_beside_the_messages_it_says_what_it_is() -> None:
    assert "built-in" in EmbeddedModel().invoke("Hello").text
