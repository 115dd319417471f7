"""An approval is for one call, once: parallel calls, other arguments, a server that ends."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from mcp import types
from mcp.shared.memory import create_connected_server_and_client_session

from extensions.mcp.server.server import ToolCalls, build_server
from extensions.mcp.server.tools import load_served_teams
from graph import build_supervisor
from graph.settings import Settings
from state import Context
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.mcp.teams import describe_hostile, write_team

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_session_stays_open")]

CONFIG: Any = {"configurable": {"thread_id": "one"}}
REQUEST = {"request": "Echo part x, then report on it."}
APPROVE: Any = {"decisions": [{"type": "approve"}]}
UNASKED = 'access: {"mcp:bad/*": {reads: [untrusted], sends: anything, asks: false}}'


class Recorded:
    """A team whose server writes its calls into a file."""

    def __init__(self, endpoint: Endpoint, settings: Settings, folder: Path) -> None:
        self._endpoint, self._settings, self._folder = endpoint, settings, folder
        self._calls = folder / "calls"

    def write(self, calls: Any, front_matter: str = "", **fields: Any) -> Path:
        servers = {"bad": describe_hostile(timeout_s=5, env={"CALLS": str(self._calls)})}
        team = write_team(
            self._folder / "asker",
            servers,
            {"clerk": ["mcp:bad/echo", "mcp:bad/die"]},
            front_matter,
        )
        task = ScriptedTask(id="a", worker="clerk", tool_calls=calls, **fields)
        self._endpoint.load_scenario(Scenario(tasks=(task,)))
        return team

    def build(self, calls: Any, front_matter: str = "", **fields: Any) -> Any:
        team = self.write(calls, front_matter, **fields)
        return build_supervisor(team, settings=self._settings, checkpointer=InMemorySaver())

    def list_calls(self) -> list[str]:
        return self._calls.read_text().splitlines() if self._calls.exists() else []


@pytest.fixture
def recorded(endpoint: Endpoint, settings: Settings, tmp_path: Path) -> Recorded:
    return Recorded(endpoint, settings, tmp_path)


async def list_asked(graph: Any) -> list[Any]:
    return [each.value["call_args"]["text"] for each in (await graph.aget_state(CONFIG)).interrupts]


@pytest.mark.parametrize("calls_a_turn", [1, 2])
async def test_an_approval_is_for_one_call_with_its_arguments(
    recorded: Recorded, calls_a_turn: int
):
    calls = (("bad_echo", {"text": "one"}), ("bad_echo", {"text": "two"}))
    graph = recorded.build(calls, calls_a_turn=calls_a_turn)

    await graph.ainvoke(REQUEST, CONFIG)
    first, *_ = await list_asked(graph)
    await graph.ainvoke(Command(resume=APPROVE), CONFIG)
    assert recorded.list_calls() == [f"echo {first}"]
    assert {first, *await list_asked(graph)} == {"one", "two"}
    await graph.ainvoke(Command(resume={"reject": "no"}), CONFIG)

    assert recorded.list_calls() == [f"echo {first}"]


async def test_an_approval_counts_though_its_caller_streams_inner_graphs_from_now_on(
    recorded: Recorded,
):
    calls = (("bad_echo", {"text": "one"}), ("bad_echo", {"text": "two"}))
    graph = recorded.build(calls, calls_a_turn=2)
    await graph.ainvoke(REQUEST, CONFIG)
    asked = (await graph.aget_state(CONFIG)).interrupts
    one = next(each.id for each in asked if each.value["call_args"]["text"] == "one")

    async for _ in graph.astream(Command(resume={one: APPROVE}), CONFIG, subgraphs=True):
        pass

    assert (recorded.list_calls(), await list_asked(graph)) == (["echo one"], ["two"])


@pytest.mark.parametrize("front_matter", ["", UNASKED])
async def test_a_call_that_may_have_effects_is_made_once_though_its_server_ends(
    recorded: Recorded, front_matter: str
):
    graph = recorded.build((("bad_die", {"text": "x"}),), front_matter)

    await graph.ainvoke(REQUEST, CONFIG)
    if not front_matter:
        await graph.ainvoke(Command(resume=APPROVE), CONFIG)

    assert recorded.list_calls() == ["die x"]


async def test_arguments_that_no_run_can_save_are_refused_before_a_human_is_asked(
    recorded: Recorded,
):
    deep: Any = "x"
    for _ in range(90):
        deep = [deep]
    graph = recorded.build((("bad_echo", {"text": "one", "more": deep}),))

    state = await graph.ainvoke(REQUEST, CONFIG)

    assert state["status"] in ("done", "partial") and not recorded.list_calls()


@pytest.mark.parametrize(("action", "status"), [("decline", "partial"), ("cancel", "needs_input")])
async def test_a_call_that_the_user_declines_cannot_be_approved_by_the_calling_model(
    recorded: Recorded, settings: Settings, action: Any, status: str
):
    async def answer(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action=action)

    team = recorded.write((("bad_echo", {"text": "one"}),))
    calls = ToolCalls(load_served_teams([team], settings), settings, Context(), is_local=True)
    async with create_connected_server_and_client_session(
        build_server(calls), elicitation_callback=answer
    ) as client:
        result = await client.call_tool("asker", REQUEST)

    assert result.structuredContent and result.structuredContent["status"] == status
    assert not recorded.list_calls()
