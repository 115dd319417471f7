"""A team inside other people's graphs, agents and calls."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolCall
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from examples.embedding.tool_of_an_agent import AgentModel
from graph import build_supervisor
from graph.settings import Settings
from state import Answer, Context
from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.teams import make_team

REQUEST: Any = {"request": "Compare the parts and say which one is best."}
THREAD: Any = {"configurable": {"thread_id": "one"}}


class ParentState(MessagesState):
    """Shares keys with the team."""

    request: str
    answer: Answer | None


@pytest.fixture(autouse=True)
def parts(endpoint: Endpoint) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ("B",), "B": ()})))


def build_parent(settings: Settings, **compiled: Any) -> Any:
    builder = StateGraph(ParentState, context_schema=Context)
    builder.add_node("team", build_supervisor(make_team(approve_plan=True), settings=settings))
    builder.add_edge(START, "team")
    return builder.compile(**compiled)


async def test_a_parent_with_an_asynchronous_saver_is_resumed_after_a_restart(
    settings: Settings,
):
    async with AsyncSqliteSaver.from_conn_string("parent.sqlite") as saver:
        await build_parent(settings, checkpointer=saver).ainvoke(REQUEST, THREAD)
    async with AsyncSqliteSaver.from_conn_string("parent.sqlite") as saver:
        parent = build_parent(settings, checkpointer=saver)
        ended = await parent.ainvoke(Command(resume="accept"), THREAD)
        kept = (await parent.aget_state(THREAD)).values

    assert isinstance(kept["answer"], Answer) and kept["answer"] == ended["answer"]


async def test_the_plans_of_two_teams_are_both_in_the_chat_of_their_parent(
    settings: Settings,
):
    builder = StateGraph(ParentState)
    for name in ("first", "second"):
        team = build_supervisor(make_team(approve_plan=True), settings=settings)
        builder.add_node(name, team)
    builder.add_node("next", lambda _: {"request": "Compare other parts."})
    builder.add_edge(START, "first")
    builder.add_edge("first", "next")
    builder.add_edge("next", "second")
    parent: Any = builder.compile(checkpointer=InMemorySaver())

    await parent.ainvoke({"messages": [("user", REQUEST["request"])]}, THREAD)
    await parent.ainvoke(Command(resume="accept"), THREAD)
    ended = await parent.ainvoke(Command(resume="accept"), THREAD)

    assert [message.type for message in ended["messages"]] == ["human", "ai", "ai"] * 2


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_question_in_a_tool_surfaces_in_the_agent_and_is_answered_there(
    settings: Settings, is_async: bool
):
    team = build_supervisor(make_team(approve_plan=True), settings=settings)

    @tool
    def ask(question: str) -> str:
        """Ask the team."""
        return str(team.invoke({"request": question})["answer"].text)

    @tool("ask")
    async def ask_later(question: str) -> str:
        """Ask the team."""
        state = await team.ainvoke({"request": question})
        return str(state["answer"].text)

    chosen: BaseTool = ask_later if is_async else ask
    call = ToolCall(name="ask", args={"question": REQUEST["request"]}, id="1")
    script = iter([AIMessage("", tool_calls=[call]), AIMessage("So it is.")])
    agent: Any = create_agent(AgentModel(messages=script), [chosen], checkpointer=InMemorySaver())

    async def run(given: Any) -> Any:
        if is_async:
            return await agent.ainvoke(given, THREAD)
        return await asyncio.to_thread(agent.invoke, given, THREAD)

    asked = await run({"messages": [("user", "Which is best?")]})
    ended = await run(Command(resume="accept"))

    assert [question.value["kind"] for question in asked["__interrupt__"]] == ["plan"]
    assert [message.type for message in ended["messages"]] == ["human", "ai", "tool", "ai"]
    assert ended["messages"][2].text.startswith("The answer")


async def test_callbacks_tags_metadata_and_a_run_name_reach_the_steps(settings: Settings):
    seen: list[tuple[str, set[str], Any]] = []

    class Watcher(BaseCallbackHandler):
        def on_chain_start(self, *_: Any, **started: Any) -> None:
            tags = set(started.get("tags") or ())
            user = (started.get("metadata") or {}).get("user")
            seen.append((str(started.get("name")), tags, user))

    team = build_supervisor(make_team(), settings=settings)
    given: Any = {"callbacks": [Watcher()], "tags": ["mine"], "metadata": {"user": "ada"}}
    given["run_name"] = "my run"
    await team.ainvoke(REQUEST, given)

    names = [name for name, _, _ in seen]
    assert names[0] == "my run" and {"supervisor", "synthesizer"} <= set(names)
    assert "mine" in seen[0][1] and {user for _, _, user in seen} == {"ada"}


async def test_a_task_that_waits_for_another_keeps_no_place_of_max_concurrency(
    settings: Settings,
):
    team = build_supervisor(make_team(), settings=settings)

    async with asyncio.timeout(30):
        ended = await team.ainvoke(REQUEST, {"max_concurrency": 1})

    assert ended["status"] == "done"
