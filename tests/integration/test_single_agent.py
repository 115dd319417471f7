"""Runs of a team as one agent: the checks, the caps and the resumes of any run, and no plan."""

from pathlib import Path
from typing import Any

from extensions.mcp.servers.session import close_sessions
from nodes.schemas.team import Team, Worker
from tests.endpoint import Fault, ScriptedTask
from tests.injections.fake_internet import FakeInternet
from tests.mcp.teams import describe_hostile, write_team
from tests.runs import REQUEST, Runs
from tests.teams import make_team

SINGLE: Any = {"strategy": "single"}
SUM = ("calculate", {"expression": "6 * 7"})
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
