"""Materials that are too long for a handoff: the model reads on, or a gap names what it did not."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from graph import load_team
from nodes.schemas.team import Team, Worker
from supervisor_worker.testing.endpoint.records import Call
from tests.endpoint import Endpoint, ScriptedTask
from tests.runs import REQUEST, Runs
from tests.team_runs import run_team
from tests.teams import make_team

LINES = 1_200
BOOK = "".join(
    f"Line {number} of the book, in which it is told.\n" for number in range(1, LINES + 1)
)
FINE = {"output": "All is well.", "findings": []}


def make_diff(added: int) -> str:
    lines = "".join(
        f"+    total_{n} = compute_{n}(values)  # added {n}.\n" for n in range(1, added + 1)
    )
    return f"--- a/app.py\n+++ b/app.py\n@@ -1 +1,{added + 1} @@\n import os\n{lines}"


def make_reading(first: int, last: int | None = None, name: str = "book.txt") -> Any:
    return ("read_material", {"name": name, "first_line": first, "last_line": last})


def make_reading_team(**fields: Any) -> Team:
    reader = Worker(name="reader", description="Reads.", instructions="Read.", **fields)
    return make_team().model_copy(update={"workers": (reader,)})


async def run_reader(
    runs: Runs, *calls: Any, team: Team | None = None, **task: Any
) -> dict[str, Any]:
    worker = (team or make_reading_team()).workers[0].name
    scripted = {"materials": ("book.txt",), "report": FINE, **task}
    reading = ScriptedTask(id="A", worker=worker, tool_calls=calls, **scripted)
    runs.script(reading)
    graph = runs.build_graph(team or make_reading_team())
    materials = {"book.txt": BOOK, "secret.txt": "Nobody else may read it.\n" * 1_000}
    state: dict[str, Any] = await graph.ainvoke({"request": REQUEST, "materials": materials})
    return state


def list_offered(call: Call) -> set[str]:
    return {tool["function"]["name"] for tool in call.body.get("tools") or ()}


def list_seen(endpoint: Endpoint, pattern: str) -> set[int]:
    asked = endpoint.select_calls(schema="Report")[-1].body["messages"]
    return set(map(int, re.findall(pattern, json.dumps(asked))))


async def test_a_model_sees_an_index_and_the_beginning_and_reads_on_to_the_end(runs: Runs):
    calls = [make_reading(268, 700), make_reading(701), make_reading(1_100)]

    state = await run_reader(runs, *calls)

    first = runs.select_calls(schema="Report")[0]
    handoff = first.body["messages"][1]["content"]
    assert f"- book.txt: txt, 1,200 lines, {len(BOOK):,} characters; lines 1-" in handoff
    assert list_offered(first) == {"read_material", "Report"}
    assert list_seen(runs.endpoint, r"Line (\d+) of the book") == set(range(1, LINES + 1))
    assert state["status"] == "done"
    assert state["results"]["A"].gaps == () and not state["results"]["A"].is_partial


async def test_lines_that_were_not_read_are_a_gap_and_make_the_report_partial(runs: Runs):
    state = await run_reader(runs, make_reading(1000, 1100))

    seen = list_seen(runs.endpoint, r"Line (\d+) of the book")
    report = state["results"]["A"]
    last = next(number for number in range(1, LINES) if number + 1 not in seen)
    gap = f"book.txt: lines {last + 1}-999, 1101-1200 of 1200 were not read by the model"
    assert report.is_partial and report.gaps == report.failures == (gap,)
    assert state["status"] == "partial" and f"A lacks: {gap}" in state["answer"].gaps


async def test_lines_that_only_a_tool_has_read_are_a_gap_of_a_whole_report(runs: Runs):
    team = make_reading_team(tools=("search_documents",))
    call = ("search_documents", {"query": "line 900"})

    state = await run_reader(runs, call, team=team)

    (gap,) = state["results"]["A"].gaps
    assert gap.endswith("of 1200 were not read by the model, only by search_documents")
    assert not state["results"]["A"].is_partial and state["status"] == "done"


@pytest.mark.slow
async def test_a_table_on_which_a_tool_has_worked_has_no_unread_lines(runs: Runs):
    call = ("query_database", {"sql": "SELECT sum(price) FROM prices"})
    task = ScriptedTask(
        id="A", worker="reader", tool_calls=(call,), materials=("prices.csv",), report=FINE
    )
    runs.script(task)
    table = "part,price\n" + "".join(f"part {n},{n}\n" for n in range(2_000))
    team = make_reading_team(tools=("query_database",))

    state = await runs.build_graph(team).ainvoke(
        {"request": REQUEST, "materials": {"prices.csv": table}}
    )

    assert state["status"] == "done" and state["results"]["A"].gaps == ()


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (make_reading(1, name="secret.txt"), "materials of this task: book.txt"),
        (make_reading(9, 8), "last_line 8 is before first_line 9"),
    ],
)
async def test_a_worker_reads_only_lines_of_its_own_materials(runs: Runs, call: Any, refusal: str):
    state = await run_reader(runs, call)

    last = runs.select_calls(schema="Report")[-1].body["messages"][-1]
    assert refusal in last["content"] and "Nobody else" not in str(last)
    assert state["results"]["A"].is_partial


async def review(runs: Runs, diff: str, *calls: Any, a_turn: int = 1) -> Mapping[str, Any]:
    """Let the worker for bugs review a diff; its model makes the calls and then reports."""
    task = ScriptedTask(
        id="bugs",
        worker="bugs",
        description="Find defects in the lines that the diff adds, with file and line.",
        materials=("change.diff",),
        tool_calls=(("find_bugs", {}), *calls),
        calls_a_turn=a_turn,
        report=FINE,
    )
    runs.script(task)
    graph = runs.build_graph(load_team("code_review"))
    found: Mapping[str, Any] = await graph.ainvoke(
        {"request": "Review this change for bugs", "materials": {"change.diff": diff}}
    )
    return found


@pytest.mark.slow
async def test_a_reviewer_that_reports_too_early_is_asked_once_to_read_on_and_a_gap_names_the_rest(
    runs: Runs,
):
    state = await review(runs, make_diff(3_000))

    calls = runs.select_calls(schema="Report")
    report = state["results"]["bugs"]
    assert ["<not_read>" in str(call.body["messages"][-1]) for call in calls] == [
        False,
        False,
        True,
    ]
    assert report.is_partial and report.output == FINE["output"]
    (failure,) = report.failures
    assert re.search(
        r"change\.diff: lines \d+-3004 of 3004 were not read by the model, only by find_bugs "
        r"\(app\.py, added lines \d+-3001\)",
        failure,
    )


async def test_a_reviewer_with_little_time_left_is_not_asked_to_read_on(runs: Runs):
    reviewers = load_team("code_review")
    found = reviewers.find_worker("bugs")
    hasty = found.model_copy(update={"limits": found.limits.model_copy(update={"timeout_s": 1.0})})
    team = reviewers.model_copy(update={"workers": (hasty,), "examples": ()})
    task = ScriptedTask(
        id="bugs", worker="bugs", materials=("change.diff",), latency_s=0.6, report=FINE
    )
    runs.script(task)
    materials = {"change.diff": make_diff(3_000)}

    state = await runs.build_graph(team).ainvoke({"request": REQUEST, "materials": materials})

    assert len(runs.select_calls(schema="Report")) == 1
    assert state["results"]["bugs"].output == FINE["output"] and state["results"]["bugs"].is_partial


@pytest.mark.slow
async def test_the_embedded_model_reads_by_its_tools_alone():
    outcome, _, events = await run_team(
        "code_review", "Review this change", materials={"change.diff": make_diff(1_199)}
    )

    tools = {event["tool"] for event in events if event["kind"] == "tool_call"}
    assert "read_material" not in tools and "find_bugs" in tools
    assert not any(
        "not read by the model" in gap for r in outcome.results.values() for gap in r.gaps
    )
