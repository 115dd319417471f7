"""Whom the embedded model routes a request to, and which tools that worker calls."""

import json
from dataclasses import replace
from typing import Any

import pytest

from extensions.embedded.model import _fill_form
from extensions.embedded.planning import write_decision
from extensions.embedded.tool_calls import choose_calls, list_uncalled, write_document
from extensions.embedded.work import CITING, OPENING, AnsweredCall
from nodes.prompts import messages
from nodes.schemas.handoff import PlanningValues
from nodes.schemas.team import Team
from state import Claim, Report
from tests.unit.extensions.embedded.embedded_runs import make_example, make_team, make_work

CLAIM = Claim(text="AWS grew.", source="amazon.md", quotation="AWS grew by 19 %.")
SALES = Report(
    task="sales", worker="researcher", output="AWS grew.", claims=(CLAIM,), status="completed"
)
FOUND = json.dumps({"results": [{"source": "https://example.org/a", "text": "AWS grew."}]})


def make_tool(*required: str, **types: str) -> dict[str, Any]:
    named = {name: {"type": types.get(name, "string")} for name in (*required, *types)}
    return {"properties": named, "required": list(required)}


SEARCH = make_tool("query")
FETCH = make_tool("url")


def test_a_search_gets_the_content_words_and_is_not_repeated():
    tools = {"search_documents": SEARCH}
    asked = [("search_documents", {"query": "net sales aws 2024"})]

    assert choose_calls(make_work("What were the net sales of AWS in 2024?"), tools) == asked
    done = AnsweredCall("search_documents", asked[0][1], FOUND)
    assert choose_calls(make_work("What were the net sales of AWS in 2024?", done), tools) == []


@pytest.mark.parametrize(
    ("words", "queries"),
    [
        ("Who leads the yard, and what does a mast cost?", ["leads yard", "mast cost"]),
        (
            "Mast 7 broke. In which month? List the costs of a sail.",
            ["mast 7 broke month", "costs sail"],
        ),
        ("Who leads the yard, and when was it built?", ["leads yard"]),
        ("Who leads the yard and the dock?", []),
    ],
)
def test_each_question_of_a_task_is_searched_by_itself(words, queries):
    tools = {"search_documents": SEARCH}
    ((_, whole),) = choose_calls(make_work(words), tools)

    found = AnsweredCall("search_documents", whole, FOUND)
    own = AnsweredCall("search_documents", whole, '{"summary": "All is here."}')

    after = choose_calls(make_work(words, found), tools)
    assert [arguments["query"] for _, arguments in after] == queries
    assert choose_calls(make_work(words, own), tools) == []


@pytest.mark.parametrize(
    ("parameter", "words", "code"),
    [
        ("question", "Which month is wet?", "Which month is wet?"),
        ("url", "Read https://example.org/a.", "https://example.org/a"),
        ("sql", "Run `SELECT 1`", "SELECT 1"),
        ("sql", "Select the best", None),
        ("expression", "What remains: `2310 - 1120 - 290`", "2310 - 1120 - 290"),
        ("expression", "What is 3 * (4 + 5)?", "3 * (4 + 5)"),
        ("expression", "What is 5 * 1,234?", None),
        ("expression", "What happened in 2024?", None),
    ],
)
def test_an_argument_of_a_known_name_is_what_the_words_have_of_its_form(parameter, words, code):
    calls = choose_calls(make_work(words), {"tool": make_tool(parameter)})

    assert calls == ([("tool", {parameter: code})] if code else [])


def test_the_web_is_asked_after_local_tools_found_nothing():
    tools = {"search_documents": SEARCH, "web_search": SEARCH, "fetch_page": FETCH}
    empty = AnsweredCall("search_documents", {"query": "aws"}, '{"results": []}')
    hit = AnsweredCall("web_search", {"query": "aws"}, FOUND)

    assert choose_calls(make_work("AWS", empty), tools) == [("web_search", {"query": "aws"})]
    assert choose_calls(make_work("AWS", empty, hit), tools) == []


def test_what_a_tool_has_computed_is_not_looked_up_in_a_file():
    computed = Claim(text="sum of cars: 217", source="sales.csv", proof="computed")
    stated = Claim(text="Cars sell well.", source="sales.csv", proof="stated")
    report = SALES.model_copy(update={"claims": (CLAIM, computed, stated)})

    work = make_work("Check.", context=(report,))

    texts = [claim["text"] for claim in work.claims]
    assert texts == [CLAIM.text, stated.text] and work.has_computed


def test_claims_of_earlier_reports_are_checked():
    work = make_work("Check.", context=(SALES,))

    ((_, arguments),) = choose_calls(work, {"check_sources": make_tool("claims", claims="array")})

    assert arguments == {
        "claims": [{"text": CLAIM.text, "source": CLAIM.source, "quotation": CLAIM.quotation}]
    }


def test_a_document_is_made_of_the_earlier_results():
    text = write_document(make_work("Write the year.", context=(SALES,)))

    assert text == "# Write the year\n\n## Sales\n\nAWS grew."


def test_a_tool_that_takes_a_material_is_called_once_for_each():
    tools = {"lint": make_tool("material")}
    first = AnsweredCall("lint", {"material": "a.py"}, "fine")
    files = {"a.py": "1", "b.py": "2"}

    assert choose_calls(make_work("Lint", artifacts=files), tools) == [
        ("lint", {"material": "a.py"})
    ]
    assert choose_calls(make_work("Lint", first, artifacts=files), tools) == [
        ("lint", {"material": "b.py"})
    ]


def test_a_shared_tool_that_has_nothing_to_do_is_no_gap():
    tools = {"query_database": make_tool("sql"), "fetch_page": FETCH}

    assert list_uncalled(make_work("What grew?"), tools) == []


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("Competitor research", "competitor research researcher prices competitors"),
        ("Prices in Oslo", "prices oslo"),
    ],
)
def test_words_that_only_name_the_work_are_searched_with_those_of_the_card(words, query):
    work = replace(make_work(words), card="researcher Finds prices of competitors")

    assert work.query == query


YARD = {"vet": "Treats animals.", "smith": "Works iron."}
ALONE = [
    make_example("My lame horse limps", {"vet": ()}),
    make_example("Mend this rusty gate", {"smith": ()}),
]
PAIRED = make_team(YARD, *ALONE, make_example("Shoe my pony", {"smith": (), "vet": ()}))
PLANNED = make_team(
    YARD,
    *ALONE,
    make_example("Examine the hoof and forge a shoe for it", {"vet": (), "smith": ("vet",)}),
)


def route(team: Team, request: str, *materials: str) -> dict[str, Any]:
    return write_decision(PlanningValues(team, request, dict.fromkeys(materials, "")))


DESK = make_team(
    {
        "coder": "Mends a bug in code (py).",
        "finder": "Answers a question on facts.",
        "writer": "Writes letters.",
    }
)


@pytest.mark.parametrize(
    ("team", "request_text", "materials", "worker"),
    [
        (DESK, "There is a bug in the very long list of things that we wrote", (), "coder"),
        (DESK, "Something is odd here", ("shop.py",), "coder"),
        (DESK, "The facts, please", (), "finder"),
        (DESK, "Hello", ("shop.csv",), ""),
        (PAIRED, "The old gate hangs askew", (), "smith"),
        (PAIRED, "Why do horses limp?", (), "vet"),
        (PAIRED, "What is for dinner?", (), ""),
    ],
)
def test_it_routes_by_cards_examples_and_the_kinds_of_materials(
    team: Team, request_text: str, materials: tuple[str, ...], worker: str
) -> None:
    decided = route(team, request_text, *materials)

    assert decided["worker"] == worker
    assert decided["reason"]


@pytest.mark.parametrize(
    ("team", "request_text", "workers"),
    [
        (PAIRED, "A lame horse limps, and the gate is rusty", ("vet", "smith")),
        (PAIRED, "A lame horse limps at the gate", ("vet", "")),
        (PAIRED, "A pony wants a shoe", ("smith", "vet")),
        (make_team(YARD, *ALONE), "A lame horse limps, and the gate is rusty", ("vet", "")),
    ],
)
def test_it_names_a_second_worker_where_part_of_the_request_is_plainly_its(
    team: Team, request_text: str, workers: tuple[str, str]
) -> None:
    decided = route(team, request_text)

    assert (decided["worker"], decided["secondary"]) == workers


@pytest.mark.parametrize(
    ("request_text", "plans", "needs_plan"),
    [
        ("Examine my limping horse and forge an iron shoe for it", True, True),
        ("Examine my limping horse and forge an iron shoe for it", False, False),
        ("My pony limps", True, False),
        ("Forge a gate", True, False),
    ],
)
def test_a_request_for_workers_that_an_example_plans_needs_a_plan(
    request_text: str, plans: bool, needs_plan: bool
) -> None:
    team = PLANNED.model_copy(update={"plan_when_needed": plans})

    assert bool(route(team, request_text).get("needs_plan")) == needs_plan


def test_a_task_by_rule_that_was_changed_asks_what_it_quotes_and_what_was_added() -> None:
    words = f'{OPENING}Which roof is best?": computes on tables. {CITING} Name its price.'
    work = replace(make_work(words), subject="")

    assert work.request == "Which roof is best? Name its price."
    assert replace(make_work("Compare: a, b"), subject="").request == "Compare: a, b"


def test_a_router_is_shown_whom_the_examples_go_to_and_no_plan() -> None:
    system = str(messages.build_route_messages(PAIRED, "x", [])[0].content)

    shown = {"worker": "smith", "task": "Do.", "secondary": "vet", "secondary_task": "Do."}
    assert f"<decision>\n{json.dumps(shown)}\n</decision>" in system
    assert "final_instruction" not in system


def test_a_check_of_computed_claims_alone_confirms_them_and_hides_no_other_result():
    computed = Claim(text="sum of cars: 217", source="sales.csv", proof="computed")
    context = (SALES.model_copy(update={"claims": (computed,)}),)
    tools = {"check_sources": make_tool("claims", claims="array")}
    found = AnsweredCall("search_documents", {"query": "cars"}, FOUND)

    alone = _fill_form("Report", [], make_work("Check.", context=context), tools)
    after = _fill_form("Report", [], make_work("Check.", found, context=context), tools)

    assert alone["found_as_expected"] is True and alone["status"] == "completed"
    assert "AWS grew." in after["output"]
