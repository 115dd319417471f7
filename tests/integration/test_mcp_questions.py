"""What a run asks a human, through an MCP client and by a tool of one's own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from mcp import ClientSession, types
from mcp.shared.memory import create_connected_server_and_client_session

from extensions.mcp.server.server import ToolCalls, build_server
from extensions.mcp.server.tools import load_served_teams
from graph.runs.run_record import load_run_record
from state import Context
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.integration.mcp_clients import read_text
from tests.runs import GIVEN, THREAD, Runs
from tests.teams import write_team

pytestmark = pytest.mark.xdist_group("mcp_questions")  # one process loads the protocol
TEAM = "market_analysis"
ASKING = {
    "status": "escalated",
    "confidence": 0,
    "escalation": {"reason": "ambiguous_input", "message": "Which year?"},
}


@asynccontextmanager
async def connect(
    runs: Runs, context: Context, replies: list[types.ElicitResult] | None = None
) -> AsyncIterator[tuple[ClientSession, list[str]]]:
    """Yield a client of a server; its user gives these replies in turn, or has no forms."""
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        assert replies is not None
        return replies.pop(0)

    calls = ToolCalls(
        load_served_teams([TEAM], runs.settings), runs.settings, context, is_local=True
    )
    async with create_connected_server_and_client_session(
        build_server(calls), elicitation_callback=None if replies is None else answer
    ) as session:
        yield session, asked


def accept(**content: str) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={**content})


def load_asking_tasks(endpoint: Endpoint, *names: str) -> None:
    """Let each of these tasks ask once, and then complete."""
    reports: Any = [ASKING, {"output": "Done."}]
    tasks = tuple(ScriptedTask(id=name, report=reports) for name in names)
    endpoint.load_scenario(Scenario(tasks=tasks))


async def test_the_questions_of_workers_are_asked_one_after_another(runs: Runs):
    load_asking_tasks(runs.endpoint, "a", "b")
    replies = [accept(answer="2025"), accept(answer='{"year": 2026}')]

    async with connect(runs, Context(ask_human=True), replies) as (session, asked):
        result = await session.call_tool(TEAM, GIVEN)

    assert len(asked) == 2 and all("Which year?" in question for question in asked)
    assert result.structuredContent and result.structuredContent["status"] == "done"


async def test_a_client_without_forms_answers_several_questions_by_their_tasks(runs: Runs):
    load_asking_tasks(runs.endpoint, "a", "b")

    async with connect(runs, Context(ask_human=True)) as (session, _):
        waits = (await session.call_tool(TEAM, GIVEN)).structuredContent
        assert waits and waits["status"] == "needs_input"
        tasks = [question["task"] for question in waits["questions"]]
        answers = dict.fromkeys(tasks, "2025")
        ended = await session.call_tool(
            "answer_question", {"thread": waits["thread"], "answer": answers}
        )

    assert sorted(tasks) == ["a", "b"]
    assert ended.structuredContent and ended.structuredContent["status"] == "done"


@pytest.mark.parametrize(
    "reply", [types.ElicitResult(action="cancel"), accept(answer=" "), accept(decision="reject")]
)
async def test_a_question_without_an_answer_stays_open(runs: Runs, reply: types.ElicitResult):
    load_asking_tasks(runs.endpoint, "a")

    async with connect(runs, Context(ask_human=True), [reply]) as (session, _):
        result = await session.call_tool(TEAM, GIVEN)

    assert result.structuredContent and result.structuredContent["status"] == "needs_input"
    assert "Which year?" in read_text(result)


async def test_a_rejected_plan_is_made_again_with_the_reason(runs: Runs):
    runs.script(ScriptedTask(id="a"))
    replies = [accept(decision="reject", reason="It lacks the prices."), accept(decision="accept")]

    async with connect(runs, Context(approve_plan=True), replies) as (session, asked):
        result = await session.call_tool(TEAM, GIVEN)

    assert [question.partition(":")[0] for question in asked] == ["plan", "plan 2"]
    assert [call.schema for call in runs.requests].count("Plan") == 2
    assert result.structuredContent and result.structuredContent["status"] == "done"


@pytest.mark.parametrize(("asked", "kept"), [(5.0, 5.0), (500.0, 60.0)])
async def test_a_client_may_lower_a_cap_and_not_raise_it(runs: Runs, asked: float, kept: float):
    runs.script(ScriptedTask(id="a"))

    async with connect(runs, Context(deadline_s=60, max_tokens=90_000)) as (session, _):
        result = await session.call_tool(TEAM, {**GIVEN, "deadline_s": asked})

    assert result.structuredContent
    record = await load_run_record(result.structuredContent["thread"], runs.settings)
    assert record["context"]["deadline_s"] == kept
    assert record["context"]["max_tokens"] == 90_000


async def test_a_run_of_a_thread_without_caps_is_resumed_within_those_of_the_server(runs: Runs):
    load_asking_tasks(runs.endpoint, "a")
    async with connect(runs, Context(ask_human=True)) as (session, _):
        waits = (await session.call_tool(TEAM, GIVEN)).structuredContent
    assert waits and waits["status"] == "needs_input"

    async with connect(runs, Context(max_tokens=1)) as (session, _):
        answer = {"thread": waits["thread"], "answer": "2025"}
        ended = (await session.call_tool("answer_question", answer)).structuredContent

    assert ended and "the budget is spent" in ended["answer"]["text"]


TOOL = '''"""Asks."""
from langchain_core.tools import tool
from langgraph.types import interrupt


@tool
def confirm(what: str) -> str:
    """Ask a human to confirm."""
    return str(interrupt({"kind": "confirm", "what": what}))
'''


@pytest.fixture
def team(tmp_path: Path) -> Path:
    clerk = "description: Books parts.\ntools: [confirm]"
    return write_team(tmp_path / "asker", tools={"confirm": TOOL}, clerk=clerk)


@pytest.mark.parametrize("by_id", [False, True], ids=["one answer", "by id"])
async def test_its_answer_continues_the_attempt_that_asked(runs: Runs, team: Path, by_id: bool):
    asking = ScriptedTask(id="a", worker="clerk", tool_calls=(("confirm", {"what": "x"}),))
    after = ScriptedTask(id="b", worker="clerk", depends_on=("a",))
    runs.script(asking, after)
    graph = runs.build_graph(team, checkpointer=InMemorySaver())

    await graph.ainvoke({"request": "Confirm part x, then report on it."}, THREAD)
    (asked,) = (await graph.aget_state(THREAD)).interrupts
    reply: Any = {asked.id: "yes"} if by_id else "yes"
    state = await graph.ainvoke(Command(resume=reply), THREAD)

    assert asked.value == {"kind": "confirm", "what": "x"}
    assert state["status"] == "done"
    assert [call.task for call in runs.select_calls(schema="Report")] == ["a", "a", "b"]
