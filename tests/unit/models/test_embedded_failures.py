"""What the embedded model reports when tools fail, refuse or are cut."""

import json
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import tool

from nodes.prompts.tags import shorten_text
from state import Claim, Report
from tests.unit.models.embedded_runs import AWS, list_calls, make_handoff, run_worker

ARTIFACTS = {"a.txt": f"{AWS} The weather in Seattle was mild."}
FAILURE = "check_text failed: reading took longer than 60 s"


@tool
def check_text(material: str) -> dict[str, Any]:
    """Check a text."""
    return {"summary": f"{material} was checked."}


def make_report(
    *answers: tuple[str, str], intent: str = "Check the net sales of AWS.", **more: Any
) -> dict[str, Any]:
    """Report after calls of `check_text`, one a material, with these statuses and texts."""
    made = [
        {"name": "check_text", "args": {"material": name}, "id": name}
        for name in list("abc")[: len(answers)]
    ]
    messages: list[AnyMessage] = [make_handoff(intent, **more)]
    messages.append(AIMessage("", tool_calls=made))
    messages += [
        ToolMessage(text, tool_call_id=call["id"], status=status)
        for call, (status, text) in zip(made, answers, strict=True)
    ]
    ((_, report),) = list_calls(messages)
    return report


def test_a_tool_that_failed_makes_the_task_failed_and_nothing_is_copied_in_its_place() -> None:
    report = make_report(("error", FAILURE), artifacts=ARTIFACTS)

    assert report["status"] == "failed" and report["output"] == FAILURE
    assert report["confidence"] == 0 and "claims" not in report


def test_what_another_call_gave_is_reported_with_the_failure_as_a_gap() -> None:
    report = make_report(("success", '{"summary": "a is fine."}'), ("error", FAILURE))

    assert report["status"] == "completed" and report["output"] == "a is fine."
    assert report["gaps"] == [FAILURE] and report["confidence"] == 45


def test_a_refusal_beside_an_answer_is_a_gap_with_the_name_of_its_tool() -> None:
    report = make_report(("success", '{"summary": "a is fine."}'), ("error", "b holds no text"))

    assert report["gaps"] == ["check_text: b holds no text"]


def test_an_object_that_was_cut_is_not_read_as_prose() -> None:
    cut = shorten_text('{"summary": "' + AWS * 100, 1000)

    report = make_report(("success", cut), artifacts=ARTIFACTS)

    assert report["status"] == "failed"
    assert report["output"] == "check_text failed: its answer was too long to be read"


def test_a_tool_that_only_names_gaps_escalates_the_task_in_their_words() -> None:
    report = make_report(("success", '{"summary": "", "gaps": ["The code was not run."]}'))

    assert report["status"] == "escalated"
    assert report["escalation"]["message"] == "The code was not run."


def test_a_task_whose_inputs_failed_is_escalated_and_not_made_from_its_materials() -> None:
    @tool
    def check_claims(claims: list[dict[str, str]]) -> dict[str, Any]:
        """Check claims."""
        return {"summary": "Checked."}

    failed = Report(task="clauses", status="failed", error="took too long")

    report = run_worker(
        "Check the net sales.", check_claims, context=(failed,), artifacts=ARTIFACTS
    )

    assert report.status == "escalated" and report.escalation and not report.claims
    assert report.escalation.reason == "ambiguous_input"
    assert report.escalation.message.endswith("gives; clauses has no result")


def test_a_search_without_a_hit_says_where_it_looked() -> None:
    @tool
    def search_documents(query: str) -> dict[str, Any]:
        """Search."""
        return {"results": []}

    report = run_worker(
        "Find the height of the tower.", search_documents, artifacts={"a.csv": "x,y\n"}
    )

    assert report.escalation is not None
    assert report.escalation.message == "search_documents found nothing on it in a.csv"


def test_claims_that_a_tool_was_not_given_are_counted_in_a_gap() -> None:
    @tool
    def check_claims(claims: list[dict[str, str]]) -> dict[str, Any]:
        """Check claims."""
        return {"summary": f"{len(claims)} claims checked."}

    earlier = Report(task="a", claims=tuple(Claim(text=f"c{n}", source="s") for n in range(330)))

    report = run_worker("Check each claim.", check_claims, context=(earlier,))

    assert report.output == "300 claims checked."
    assert report.gaps == ("check_claims was given the first 300 of 330 claims",)


def test_an_answer_of_a_form_of_its_own_is_quoted_beside_the_failure_of_another_call() -> None:
    report = make_report(("success", "three commits"), ("error", FAILURE))

    assert report["status"] == "completed" and report["output"] == "check_text: three commits"
    assert report["gaps"] == [FAILURE] and report["confidence"] == 30


def test_a_long_answer_is_quoted_from_its_beginning_and_the_rest_is_a_gap() -> None:
    lines = [f"Commit: {number:040x}" for number in range(40)]

    report = make_report(("success", "\n".join(lines)))

    assert report["status"] == "completed"
    assert report["output"] == "check_text:\n\n```text\n" + "\n".join(lines[:16]) + "\n```"
    (gap,) = report["gaps"]
    assert gap == "check_text: the first 783 of 1,959 characters of its answer are quoted"


def test_a_quotation_cannot_end_its_code_block() -> None:
    report = make_report(("success", "a\n```\n# Heading"))

    assert report["output"] == "check_text:\n\n````text\na\n```\n# Heading\n````"


def test_a_word_of_the_request_that_a_quoted_summary_has_is_no_gap() -> None:
    """The claim quotes the entry, the summary has its title too."""
    summary = "**Copyright** (European Union)\n\nIt runs for 70 years."
    claim = {"text": "It runs for 70 years.", "source": "Directive", "quote": "70 years"}
    answer = json.dumps({"summary": summary, "claims": [claim]})
    asked = 'For the request "How long is copyright in the European Union?": answers questions.'

    report = make_report(("success", answer), intent=asked)

    assert report["gaps"] == [] and report["claims"] == [claim]
