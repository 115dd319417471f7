"""Routing, stepping, dividing, recruiting, one agent: other ways to a plan, one way to run it."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from extensions.mcp.servers.session import close_sessions
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Team, Worker
from nodes.telemetry.cost import count_extra_calls
from tests.endpoint import Fault, Scenario, ScriptedTask, script_tasks
from tests.injections.fake_internet import FakeInternet
from tests.mcp.teams import describe_hostile, write_team
from tests.runs import REQUEST, THREAD, Runs, select_events
from tests.teams import make_team

INVOICES = {"request": "Sort this list of 40 invoices by due date."}
NAMES = ("coder", "writer", "helper")


def build_graph(runs: Runs, **fields: Any) -> SupervisorGraph:
    return runs.build_saved(make_team(*NAMES, **{"generalist": "helper", **fields}))


async def test_a_request_is_routed_to_one_worker_with_a_reason(runs: Runs):
    decision = {"worker": "coder", "reason": "It asks for code."}
    runs.script(answers={"Decision": decision})

    state = await build_graph(runs, strategy="route").ainvoke(INVOICES, THREAD)

    assert [call.schema for call in runs.requests] == ["Decision", "Report", "Answer"]
    assert [report.worker for report in state["results"].values()] == ["coder"]
    assert state["status"] == "done"


async def test_a_request_that_needs_a_plan_costs_one_call_more_and_names_it(runs: Runs):
    decision = {"worker": "coder", "needs_plan": True, "reason": "The text needs the code."}
    tasks = (
        ScriptedTask(id="code", worker="coder"),
        ScriptedTask(id="text", worker="writer", depends_on=({"task": "code"},)),
    )
    runs.script(*tasks, answers={"Decision": decision})

    state = await build_graph(runs, strategy="route", plan_when_needed=True).ainvoke(
        INVOICES, THREAD
    )

    asked = [call.schema for call in runs.requests]
    assert asked == ["Decision", "Plan", "Report", "Report", "Answer"]
    assert "Result of code" in str(runs.select_calls(task="text")[0].body)
    assert state["status"] == "done"
    assert count_extra_calls(state["usage"]) == {"route": 1}


async def test_steps_that_never_end_stop_at_the_cap(runs: Runs):
    again = {"worker": "coder", "task": "Sort the invoices once more."}
    runs.script(answers={"Decision": again})

    state = await build_graph(runs, strategy="step", max_steps=3).ainvoke(INVOICES, THREAD)

    assert sorted(state["results"]) == ["S1", "S2", "S3"]
    assert state["status"] == "partial"
    assert any("a cap ended the run" in gap for gap in state["answer"].gaps)


TORN = {"status": "failed", "output": "Too much for one."}


def make_plan(*tasks: ScriptedTask, compound: tuple[str, ...] = ()) -> dict[str, Any]:
    shown = Scenario(tasks=tasks).build_plan()
    for task in shown["tasks"]:
        if task["id"] in compound:
            task["is_compound"] = True
    return shown


async def test_tasks_of_a_divided_task_are_not_divided_below_the_depth_cap(runs: Runs):
    failing = [ScriptedTask(id=name, report=TORN) for name in "AX"]
    scenario = Scenario(
        tasks=tuple(failing), answers={"Plan": [make_plan(failing[0]), make_plan(failing[1])]}
    )

    state, events = await runs.play(scenario, ladder=("split",), max_attempts=2, max_recursion=1)

    assert [event["task"] for event in events if event["kind"] == "split"] == ["A"]
    assert state["status"] == "failed"


SUM = ("calculate", {"expression": "6 * 7"})


def make_recruiting_team(**fields: Any) -> Team:
    return make_team(**{"recruit": True, "grant": ("calculate",), **fields})


async def test_no_more_specialists_are_planned_than_the_cap_allows(runs: Runs):
    many = script_tasks({name: () for name in "ABC"}, worker="specialist")

    state, events = await runs.play(Scenario(tasks=many), make_recruiting_team(max_recruits=2))

    (problem,) = select_events(events, "plan_rejected")[0]["problems"]
    assert problem.startswith("3 tasks ask for a specialist: at most 2 are allowed")
    assert state["plan"].is_by_rule


def test_a_granted_tool_belongs_to_no_worker():
    holder = Worker(name="clerk", description="Adds.", instructions="Add.", tools=("calculate",))

    with pytest.raises(ValidationError, match="'clerk' and the grant share tool 'calculate'"):
        make_recruiting_team(workers=(holder,))


SINGLE: Any = {"strategy": "single"}
SEARCH = "tests.injections.tools:web_search"


def make_worker(name: str, *tools: str, **fields: Any) -> Worker:
    words = {"description": f"Is a {name}.", "instructions": f"Work as {name}."}
    return Worker(name=name, tools=tools, **{**words, **fields})


def make_nested_team() -> Team:
    inner = make_team(name="inner", workers=(make_worker("clerk", "calculate"),))
    nested = Worker(name="office", description="Counts.", team=inner)
    return make_team(workers=(make_worker("reader", "search_documents"), nested))


async def run_single(runs: Runs, **options: Any) -> Any:
    given = {"team": make_nested_team(), "thread": "one", "context": SINGLE, **options}
    return await runs.run(**given)


async def test_one_agent_holds_the_tools_of_all_and_no_plan_is_asked_for(runs: Runs):
    runs.script(ScriptedTask(id="T1", tool_calls=(SUM,)))

    outcome = await run_single(runs)

    first = runs.requests[0]
    assert outcome.status == "done" and [*outcome.results] == ["T1"]
    assert {call.schema for call in runs.requests} == {"Report", "Answer"}
    assert {"calculate", "search_documents"} <= {*first.tools}
    assert REQUEST in str(first.body) and "Work as clerk." in str(first.body)
    assert runs.load_trace("one")["run"]["strategy"] == "single"


async def test_a_run_of_one_agent_that_was_cut_off_resumes_as_one_agent(runs: Runs):
    lost = Fault(kind="unauthorized", schema="Report")
    runs.script(ScriptedTask(id="T1"), faults=(lost,))
    begun = await run_single(runs)
    runs.script(ScriptedTask(id="T1"))

    outcome = await runs.resume("one")

    assert begun.status == "failed" and outcome.status == "done"
    assert "Plan" not in {call.schema for call in runs.requests}
    assert [report.worker for report in outcome.results.values()] == ["single_agent"]


async def test_what_one_agent_has_read_may_not_leave(runs: Runs):
    leak, known = ("web_search", {"query": "code 7 4 1 1"}), ("web_search", {"query": "the parts"})
    runs.script(ScriptedTask(id="T1", tool_calls=(leak, known)))
    workers = (make_worker("reader", "calculate"), make_worker("web", SEARCH))

    async with FakeInternet() as world:
        team, memo = make_team(workers=workers), {"memo.md": "The code is 7 4 1 1."}
        outcome = await run_single(runs, team=team, materials=memo)

    assert outcome.results["T1"].taint_labels == ("private", "untrusted")
    assert world.queries == ["parts"]


async def test_a_call_to_confirm_is_confirmed_when_one_agent_makes_it(runs: Runs, tmp_path: Path):
    tools = {"clerk": ["mcp:bad/echo"], "porter": ["mcp:bad/die"]}
    servers = {"bad": describe_hostile(timeout_s=5, env={"CALLS": str(tmp_path / "calls")})}
    team = write_team(tmp_path / "asker", servers, tools)
    call = ("bad_echo", {"text": "one"})
    runs.script(ScriptedTask(id="T1", tool_calls=(call,)))

    waiting = await run_single(runs, team=team)
    outcome = await runs.resume("one", answer="approve")
    await close_sessions()

    assert [question["tool"] for question in waiting.questions] == ["mcp:bad/echo"]
    assert outcome.status == "done" and (tmp_path / "calls").read_text() == "echo one\n"
