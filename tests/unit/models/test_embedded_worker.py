"""Workers on the embedded model: which tools they call, and what they report."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import tool

from nodes.models.embedded.prompt_reading import Passage
from nodes.models.embedded.statements import choose_statements
from nodes.prompts import messages as prompts
from state import (
    Claim,
    Recruit,
    Report,
    Task,
)
from tests.unit.models.embedded_runs import (
    AWS,
    MATERIALS,
    ask_embedded,
    list_calls,
    make_handoff,
    run_worker,
    search_documents,
)


@tool("search_documents")
def search_nothing(query: str) -> dict[str, Any]:
    """Search documents that hold nothing."""
    return {"results": [], "note": "no hit"}


@tool
def web_search(query: str) -> dict[str, Any]:
    """Search the web."""
    return {"results": [{"source": "https://example.org/a", "text": AWS}]}


@tool
def query_database(sql: str) -> dict[str, Any]:
    """Query tables."""
    if sql == "SHOW TABLES":
        columns = ["company", "close_usd"]
        return {
            "tables": [
                {"table": "staff", "columns": ["name"]},
                {"table": "market_caps", "columns": columns},
            ]
        }
    return {
        "columns": ["company", "cap"],
        "rows": [["Amazon", 2324.0], ["Alphabet", 2311.5]],
        "results": [{"source": "market_caps", "text": "company: Amazon; cap: 2324.0"}],
    }


@tool
def calculate(expression: str) -> dict[str, str]:
    """Evaluate arithmetic."""
    return {"expression": expression, "value": "0.25"}


@tool
def check_sources(claims: list[dict[str, str]]) -> dict[str, Any]:
    """Check claims."""
    return {
        "checked": len(claims),
        "results": [
            {"source": "a", "claim": claims[0]["text"], "text": "stands", "verdict": "supported"},
            {"source": "b", "claim": "B grew", "text": "not there", "verdict": "unsupported"},
        ],
    }


@tool
def format_document(markdown: str, format: str = "markdown", title: str = "report") -> str:
    """Write a document."""
    return json.dumps({"path": f"out/{title}.{format}", "text": markdown})


class TestWorker:
    def test_searches_what_is_at_hand_before_the_web(self) -> None:
        made = list_calls(
            [make_handoff("Find the net sales of AWS.")], web_search, search_documents
        )

        assert [name for name, _ in made] == ["search_documents"]
        assert made[0][1]["query"] == "net sales aws"

    def test_leaves_the_web_alone_when_the_documents_answer(self) -> None:
        report = run_worker("Find the net sales of AWS in 2024.", web_search, search_documents)

        assert report.status == "completed"
        assert report.claims[0].model_dump() == {
            "text": AWS,
            "source": "amazon.md",
            "quote": AWS,
            "confidence": 70,
        }
        assert "weather" not in report.output

    def test_goes_to_the_web_when_the_documents_hold_nothing(self) -> None:
        report = run_worker("Find the net sales of AWS in 2024.", web_search, search_nothing)

        assert report.claims[0].source == "https://example.org/a"

    def test_says_which_tool_failed_and_does_not_repeat_it(self) -> None:
        messages: list[AnyMessage] = [
            make_handoff("Find the net sales of AWS."),
            AIMessage("", tool_calls=[{"name": "web_search", "args": {"query": "x"}, "id": "1"}]),
            ToolMessage("the web cannot be reached", tool_call_id="1", status="error"),
        ]

        ((name, args),) = list_calls(messages, web_search)

        assert name == "Report"
        assert args["status"] == "escalated"
        assert "the web cannot be reached" in args["output"]

    def test_runs_the_sql_of_the_intent(self) -> None:
        made = list_calls([make_handoff("Compute caps: `SELECT 1`")], query_database, calculate)

        assert made == [("query_database", {"sql": "SELECT 1"})]

    def test_writes_no_sql_of_its_own(self) -> None:
        assert run_worker("List market caps.", query_database).status == "escalated"

    @pytest.mark.parametrize(
        ("count", "cut", "expected"),
        [
            (20, "", ""),
            (21, "", "\n\n1 more row."),
            (49, "", "\n\n29 more rows."),
            (50, "", "\n\n30 more rows."),
            (200, "only the first 200 rows", "\n\nOnly the first 20 rows are shown."),
        ],
    )
    def test_counts_only_rows_that_it_knows_of(self, count: int, cut: str, expected: str) -> None:
        @tool("query_database")
        def query_long(sql: str) -> dict[str, Any]:
            """Query a long table."""
            return {"columns": ["n"], "rows": [[n] for n in range(count)], "cut": cut}

        report = run_worker("List them: `SELECT n FROM long`", query_long)

        assert report.output.split("| 19 |")[1] == expected

    @pytest.mark.parametrize(
        ("intent", "expression"),
        [
            ("Compute `(1200 - 950) / 950`.", "(1200 - 950) / 950"),
            ("What is (1200 - 950) / 950 in percent?", "(1200 - 950) / 950"),
            ("Compute growth since 2023-12-29.", None),
        ],
    )
    def test_calculates_only_what_is_arithmetic(self, intent: str, expression: str | None) -> None:
        made = list_calls([make_handoff(intent)], calculate)

        assert made[0][0] == ("calculate" if expression else "Report")
        assert made[0][1].get("expression") == expression

    def test_hands_earlier_claims_to_the_check_and_reports_the_verdicts(self) -> None:
        earlier = Report(task="a", claims=(Claim(text="A grew", source="a", quote="grew"),))

        report = run_worker("Check each claim on A.", check_sources, context=(earlier,))

        assert report.output.startswith("1 claim checked: 1 supported, 1 unsupported.")
        assert report.findings[0].message == "unsupported: B grew not there"

    def test_writes_the_document_from_earlier_results(self) -> None:
        earlier = Report(task="cloud", output="AWS grew.", claims=(Claim(text="x", source="a.md"),))
        messages: list[AnyMessage] = [make_handoff('Write "Clouds" as docx.', context=(earlier,))]

        ((name, args),) = list_calls(messages, format_document)

        assert name == "format_document"
        assert args["title"] == "Clouds"
        assert args["format"] == "docx"
        assert "## Cloud\n\nAWS grew." in args["markdown"]
        assert "- a.md" in args["markdown"]

    def test_finds_what_it_can_in_the_materials_without_tools(self) -> None:
        report = run_worker("Find the operating income of Google Cloud.", artifacts=MATERIALS)

        assert report.status == "completed"
        assert report.confidence == 40
        assert any("6,112" in claim.quote for claim in report.claims)
        for claim in report.claims:
            assert claim.quote in " ".join(MATERIALS[claim.source].split())

    def test_escalates_a_task_on_which_nothing_was_found(self) -> None:
        report = run_worker("Find the height of the tower.", search_nothing)

        assert report.status == "escalated"
        assert report.escalation is not None
        assert report.escalation.reason == "ambiguous_input"
        assert "search_documents" in report.escalation.message


@tool
def book_trades(request: str) -> dict[str, Any]:
    """Send elsewhere what is no matter of trades."""
    return {"escalation": {"reason": "out_of_scope", "message": f"no trades in: {request}"}}


def test_a_material_that_a_tool_refuses_is_escalated_in_its_words_and_not_quoted_instead():
    messages: list[AnyMessage] = [
        make_handoff(
            "List trades of the portfolio.", artifacts={"n.md": "The portfolio had 3 trades."}
        ),
        AIMessage("", tool_calls=[{"name": "book_trades", "args": {"request": "x"}, "id": "1"}]),
        ToolMessage("n.md line 3: 'x' is no number", tool_call_id="1", status="error"),
    ]

    ((_, report),) = list_calls(messages, book_trades)

    assert report["escalation"]["reason"] == "ambiguous_input"
    assert report["escalation"]["message"] == "n.md line 3: 'x' is no number"


def test_a_tool_may_escalate_a_task_and_gets_the_original_request():
    intent = 'For the request "Write a poem of 3 lines": lists trades. Give every figure.'

    report = run_worker(intent, book_trades, artifacts={"n.md": "A poem of 3 lines is a tercet."})

    assert report.status == "escalated" and report.escalation and not report.claims
    assert report.escalation.reason == "out_of_scope"
    assert report.escalation.message == "no trades in: Write a poem of 3 lines"


@tool
def weigh(findings: list[dict[str, Any]]) -> dict[str, Any]:
    """Weigh findings."""
    return {"summary": f"{len(findings)} findings weighed."}


def test_reports_without_findings_have_none_which_is_not_the_same_as_no_reports():
    found = run_worker("Weigh the findings.", weigh, context=(Report(task="a", output="Clean."),))

    assert found.output == "0 findings weighed."
    alone = run_worker("Weigh the findings.", weigh)
    assert alone.escalation is not None
    assert "no file; attach one, on the command line with --file" in alone.escalation.message


@tool
def review_text(material: str) -> dict[str, Any]:
    """Review a material, in the words of a report."""
    finding = {
        "severity": "high",
        "message": f"{material} is too long",
        "file": material,
        "line": 1,
    }
    return {
        "summary": f"{material} was reviewed.",
        "claims": [{"text": "It has one line.", "source": material, "quote": "line"}],
        "findings": [finding],
        "gaps": ["Whether it is well written is for a person to judge."],
    }


def test_a_tool_that_takes_a_material_is_called_once_for_each_and_quoted():
    report = run_worker("Review the texts.", review_text, artifacts={"a.txt": "a", "b.txt": "b"})

    assert report.output == "a.txt was reviewed.\n\nb.txt was reviewed."
    assert [finding.file for finding in report.findings] == ["a.txt", "b.txt"]
    assert [claim.source for claim in report.claims] == ["a.txt", "b.txt"]
    assert report.gaps == ("Whether it is well written is for a person to judge.",)


def test_a_specialist_gets_the_tools_that_its_task_speaks_of():
    task = Task(id="t1", description="Calculate the sum of 4 and 5.", worker="specialist")
    tools = {"calculate": "Calculate an arithmetic expression.", "web_search": "Search the web."}

    made = Recruit(
        **ask_embedded(Recruit, prompts.build_recruit_messages(task, task.description, tools))
    )

    assert made.tools == ("calculate",) and "sum of 4 and 5" in made.instructions


def test_a_sentence_with_many_large_figures_is_no_row_of_a_table():
    result = (
        "AWS had revenue of 107,556 million USD in 2024, after 90,757 in 2023 and 80,096 in 2022."
    )
    row = "AWS revenue of 2024,107556,90757,80096,USD million,AWS revenue.\n"

    report = run_worker("Find the revenue of AWS in 2024.", artifacts={"aws.md": f"{row}{result}"})

    assert [claim.text for claim in report.claims] == [result]


@tool
def review_nothing(diff: str = "") -> dict[str, Any]:
    """Hand every task back."""
    return {"escalation": {"reason": "out_of_scope", "message": "only diffs are reviewed"}}


def test_an_escalation_by_a_tool_is_followed_whatever_the_materials_hold() -> None:
    report = run_worker("Review the change.", review_nothing, artifacts={"a.md": AWS})

    assert report.status == "escalated" and report.escalation
    assert report.escalation.reason == "out_of_scope"
    assert report.escalation.message == "only diffs are reviewed" and not report.claims


@tool
def count_marks(request: str) -> dict[str, Any]:
    """Count, in the words of a report."""
    return {"summary": "Two marks.", "claims": [{"text": "Two marks.", "source": "a.md"}]}


def test_what_a_search_found_stands_beside_what_another_tool_says():
    report = run_worker("Find the net sales of AWS in 2024.", count_marks, search_documents)

    assert report.output == f"Two marks.\n\n- {AWS} (amazon.md)"
    assert [claim.text for claim in report.claims] == ["Two marks.", AWS]


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("Tea: 3 EUR per cup.", "Tea: 3 EUR per cup."),
        ("Tea costs 3 EUR.", "Tea costs 3 EUR."),
        ("- Tea: 3 EUR", "Tea: 3 EUR"),
        ("* Tea (green) - 3 EUR", "Tea (green) - 3 EUR"),
    ],
)
def test_a_line_of_few_words_is_found_where_it_says_something(line: str, fact: str) -> None:
    text = f"# Tea 2024\n\nTea, 3\n\n{line}\n\n| Tea | 3 |\n"

    report = run_worker("What is the price of tea?", artifacts={"list.md": text})

    assert [claim.text for claim in report.claims] == [fact]


def test_advice_of_a_tool_to_its_worker_is_not_shown_to_the_user() -> None:
    refusal = "there is nothing to search: add a file; use another tool, or report what is missing"
    messages: list[AnyMessage] = [
        make_handoff("Hello"),
        AIMessage("", tool_calls=[{"name": "web_search", "args": {"query": "x"}, "id": "1"}]),
        ToolMessage(refusal, tool_call_id="1", status="error"),
    ]

    ((_, report),) = list_calls(messages, web_search)

    assert report["escalation"]["message"] == "there is nothing to search: add a file"
    assert report["output"].endswith("there is nothing to search: add a file")


def test_a_sentence_that_names_nothing_is_told_with_the_heading_of_its_part() -> None:
    @tool
    def search_papers(query: str) -> dict[str, Any]:
        """Search papers."""
        text = "Revenue was 841,000 EUR in 2023."
        return {"results": [{"source": "a.md", "place": "Acme Ltd", "text": text}]}

    report = run_worker("What was the revenue?", search_papers)

    assert report.claims[0].text == "Acme Ltd: Revenue was 841,000 EUR in 2023."
    assert report.claims[0].quote == "Revenue was 841,000 EUR in 2023."


def test_a_sentence_that_ends_with_a_colon_is_quoted_with_its_list() -> None:
    text = (
        "# When may I borrow a boat?\n\nYou may borrow a boat:\n\n- on Tuesdays\n  from 17:00\n"
        "- on Saturdays. Not in winter.\n\nAsk the keeper.\n"
    )

    (statement,) = choose_statements(
        "When may I borrow a boat?", [Passage("boats.md", text)], is_question=True
    )

    assert statement["text"] == (
        "When may I borrow a boat? You may borrow a boat: on Tuesdays from 17:00; on Saturdays. "
        "Not in winter. Ask the keeper."
    )
    assert statement["quote"] in " ".join(text.split())
