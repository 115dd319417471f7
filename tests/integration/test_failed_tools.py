"""A tool that fails makes its task failed or its report partial; it is never an empty result."""

from typing import Any

import pytest

from graph import arun, load_team
from nodes.schemas.team import Team, Worker
from state import Report
from tests.contracts import DISTRIBUTION, read_contract
from tests.endpoint import ScriptedTask
from tests.runs import REQUEST, Runs
from tests.teams import make_team

REVIEW = "Review this contract before we sign it, what are the risks and what should worry us?"
LOOK = "tests.failing_tools:look"
SLOW = "look failed: took longer than 60 s"
FINE = {"output": "All is well.", "findings": []}
Calls = tuple[tuple[str, dict[str, Any]], ...]


def make_looking_team() -> Team:
    looker = Worker(name="looker", description="Looks.", instructions="Look.", tools=(LOOK,))
    return make_team().model_copy(update={"workers": (looker,)})


def make_calls(*endings: str, **more: Any) -> Calls:
    return tuple(("look", {"how": how, **more}) for how in endings)


async def run_calls(runs: Runs, made: Calls, *, a_turn: int = 1, **scripted: Any) -> dict[str, Any]:
    task = ScriptedTask(
        id="A", worker="looker", tool_calls=made, calls_a_turn=a_turn, report=FINE, **scripted
    )
    runs.script(task)
    materials = {"a.txt": "Alpha.", "b.txt": "Beta."}
    graph = runs.build_graph(make_looking_team())
    state: dict[str, Any] = await graph.ainvoke({"request": REQUEST, "materials": materials})
    return state


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("times out", SLOW),
        ("crashes", "look failed: RuntimeError: torn apart"),
        ("does half", "look is incomplete: the second half took longer than 9 s"),
        ("talks on", "look answered with 30,015 characters, of which 24,000 are read"),
    ],
)
async def test_a_report_that_calls_itself_complete_is_partial_where_its_tool_failed(
    runs: Runs, how: str, reason: str
):
    state = await run_calls(runs, make_calls("answers", how))

    report: Report = state["results"]["A"]
    assert report.status == "completed" and report.is_partial
    assert report.failures == report.gaps == (reason,)
    assert state["status"] == "partial"
    assert f"A lacks: {reason}" in state["answer"].gaps
    assert state["answer"].confidence <= 50


async def test_a_model_cannot_say_of_itself_what_code_decides(runs: Runs):
    claimed = {"output": "Half.", "is_partial": True, "failures": ["me"]}
    runs.script(ScriptedTask(id="A", worker="looker", report=claimed))

    state = await runs.build_graph(make_looking_team()).ainvoke({"request": REQUEST})

    assert state["results"]["A"].failures == () and state["status"] == "done"


async def test_a_material_that_was_cut_when_it_was_read_makes_the_report_partial(runs: Runs):
    task = ScriptedTask(id="A", worker="looker", report=FINE, materials=("a.log",))
    runs.script(task)
    materials = {"a.log": "12:00 started\n[cut at 2000000 characters]"}

    state = await runs.build_graph(make_looking_team()).ainvoke(
        {"request": REQUEST, "materials": materials}
    )

    assert state["status"] == "partial"
    assert "A lacks: a.log was cut when it was read: its end is not covered" in state["answer"].gaps


async def test_the_trace_says_which_calls_failed_and_a_resume_does_their_tasks_again(runs: Runs):
    first = ScriptedTask(id="A", worker="looker", tool_calls=make_calls("times out"), report=FINE)
    after = ScriptedTask(id="B", worker="looker", depends_on=("A",), report=FINE)
    other = ScriptedTask(id="C", worker="looker", tool_calls=make_calls("refuses"), report=FINE)
    runs.script(first, after, other)

    partial = await runs.run(team=make_looking_team(), thread="one")
    tool_calls = [e for e in runs.load_events() if e["kind"] == "tool_call"]
    runs.script(ScriptedTask(id="A", worker="looker", report=FINE))
    before = len(runs.select_calls(schema="Report"))
    resumed = await runs.resume("one")

    assert partial.status == "partial" and partial.exit_code == 3
    assert {event["task"]: event["failures"] for event in tool_calls} == {"A": [SLOW], "C": []}
    assert resumed.status == "done"
    again = runs.select_calls(schema="Report")[before:]
    assert [call.task for call in again] == ["A", "B"]


async def test_the_trace_names_the_tool_the_exception_and_its_message_in_one_bounded_line(
    runs: Runs,
):
    made = make_calls("crashes at length")
    task = ScriptedTask(id="A", worker="looker", tool_calls=made, report=FINE)
    runs.script(task)

    await runs.run(team=make_looking_team(), thread="one")

    events = runs.load_events()
    (error,) = [event["error"] for event in events if event["kind"] == "tool_call"]
    last = runs.select_calls(schema="Report")[-1].body["messages"][-1]
    assert error.startswith("look failed: ValueError: no shelf xxx") and len(error) < 600
    assert last["role"] == "tool" and last["content"] == error


def make_review_team() -> Team:
    """The shipped team, but for its check against the playbook, which fails."""
    shipped = load_team("contract_review")
    failing = ("tests.failing_tools:check_playbook",)
    workers = (
        worker.model_copy(update={"tools": failing}) if worker.name == "compliance" else worker
        for worker in shipped.workers
    )
    return shipped.model_copy(update={"workers": tuple(workers)})


@pytest.mark.slow
async def test_a_contract_whose_check_failed_has_no_ranking_and_no_clean_bill():
    outcome = await arun(REVIEW, team=make_review_team(), files=[str(DISTRIBUTION)])

    assert outcome.answer is not None
    reports = outcome.results
    reason = "check_playbook failed: reading took longer than 60 s; give a shorter or cleaner text"
    assert outcome.status == "partial" and outcome.exit_code == 3
    assert reports["compliance_check"].status == "failed" and not reports["compliance_check"].claims
    assert reports["risks"].status == "skipped"
    assert f"compliance_check failed: {reason}" in outcome.answer.gaps
    assert "No risk to rank" not in outcome.answer.text


async def test_risks_are_not_ranked_by_a_check_that_failed_whatever_its_report_says(runs: Runs):
    check = ScriptedTask(
        id="check",
        worker="compliance",
        materials=(DISTRIBUTION.name,),
        tool_calls=(("check_playbook", {"material": DISTRIBUTION.name}),),
        report={"output": "No deviations were found.", "findings": []},
    )
    rank = ScriptedTask(
        id="rank",
        worker="risk",
        depends_on=("check",),
        tool_calls=(("risk_matrix", {"findings": []}),),
        report={"output": "There is no risk."},
    )
    runs.script(check, rank)
    graph = runs.build_graph(make_review_team())
    materials = {DISTRIBUTION.name: read_contract(DISTRIBUTION)}

    state = await graph.ainvoke({"request": REVIEW, "materials": materials})

    reason = "check lacks: check_playbook failed: reading took longer than 60 s"
    (gap,) = state["results"]["rank"].gaps
    assert state["status"] == "partial"
    assert any(each.startswith(reason) for each in state["answer"].gaps)
    assert gap.startswith("risk_matrix: no risk can be ranked, as the check did not run to its end")
    assert reason in gap
