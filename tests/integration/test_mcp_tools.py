"""Workers with tools of MCP servers, and what check --online finds."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graph import build_supervisor
from graph.commands.doctor import run_doctor
from graph.commands.teams import report_problems, show_team
from graph.settings import Settings
from nodes.errors import TeamInvalid
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.mcp.teams import describe_hostile, write_team
from tests.runs import THREAD

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_session_stays_open")]

REQUEST = {"request": "Echo part x, then report on it."}
HARMLESS = 'access: {"mcp:bad/*": {reads: [untrusted], sends: nothing}}'
READS_PRIVATE = '''"""Reads."""
from langchain_core.tools import tool

ACCESS = {"reads": ["private"], "sends": "nothing"}


@tool
def ledger() -> str:
    """Read the ledger."""
    return "Zanzibar 4711"
'''


class Runs:
    """Runs one task of a team whose clerk has tools of the hostile server."""

    def __init__(self, endpoint: Endpoint, settings: Settings, folder: Path) -> None:
        self._endpoint, self._settings, self.folder = endpoint, settings, folder

    def build(
        self,
        calls: Iterable[tuple[str, dict[str, Any]]],
        tools: Iterable[str],
        front_matter: str = "",
        *,
        is_saved: bool = True,
        calls_a_turn: int = 1,
    ) -> Any:
        servers = {"bad": describe_hostile(timeout_s=5)}
        write_team(self.folder, servers, {"clerk": tools}, front_matter)
        (self.folder / "tools").mkdir()
        (self.folder / "tools" / "ledger.py").write_text(READS_PRIVATE)
        task = ScriptedTask(
            id="a", worker="clerk", tool_calls=tuple(calls), calls_a_turn=calls_a_turn
        )
        self._endpoint.load_scenario(Scenario(tasks=(task,)))
        saver = InMemorySaver() if is_saved else None
        return build_supervisor(self.folder, settings=self._settings, checkpointer=saver)

    def list_tool_messages(self) -> list[str]:
        """Return what the worker's model has read of its tools in its last request."""
        messages = self._endpoint.select_calls(schema="Report")[-1].body["messages"]
        return [str(each["content"]) for each in messages if each["role"] == "tool"]


@pytest.fixture
def runs(endpoint: Endpoint, settings: Settings, tmp_path: Path) -> Runs:
    return Runs(endpoint, settings, tmp_path / "asker")


async def get_question(graph: Any) -> Any:
    (asked,) = (await graph.aget_state(THREAD)).interrupts
    return asked


async def test_a_tool_that_is_declared_harmless_is_called_unasked_and_named_by_its_server(
    runs: Runs,
) -> None:
    graph = runs.build([("bad_echo", {"text": "hello"})], ["mcp:bad/echo"], HARMLESS)

    stream = graph.astream(REQUEST, THREAD, stream_mode="custom", subgraphs=True)
    events = [event async for _, event in stream]

    assert [each["tool"] for each in events if "tool" in each] == ["mcp:bad/echo"]
    assert runs.list_tool_messages() == ["hello"]


async def test_a_human_is_asked_before_a_call_of_a_tool_that_nothing_is_declared_of(
    runs: Runs,
) -> None:
    graph = runs.build([("bad_echo", {"text": "hello"})], ["mcp:bad/echo"])

    await graph.ainvoke(REQUEST, THREAD)
    asked = await get_question(graph)
    state = await graph.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)

    (action,) = asked.value["action_requests"]
    assert (action["name"], action["args"]) == ("mcp:bad/echo", {"text": "hello"})
    assert (asked.value["task"], asked.value["worker"]) == ("a", "clerk")
    assert state["status"] == "done" and runs.list_tool_messages() == ["hello"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            {
                "decisions": [
                    {
                        "type": "edit",
                        "edited_action": {"name": "mcp:bad/echo", "args": {"text": "bye"}},
                    }
                ]
            },
            "bye",
        ),
        ({"args": {"words": "bye"}}, "'text' is a required property"),
    ],
)
async def test_a_call_is_made_with_the_arguments_that_the_human_edited_if_they_fit(
    runs: Runs, reply: Any, said: str
) -> None:
    graph = runs.build([("bad_echo", {"text": "hello"})], ["mcp:bad/echo"])

    await graph.ainvoke(REQUEST, THREAD)
    await graph.ainvoke(Command(resume=reply), THREAD)

    (message,) = runs.list_tool_messages()
    assert said in message and (message == said) == ("decisions" in reply)


async def test_a_rejected_call_is_not_made_and_is_a_gap_of_the_report(runs: Runs) -> None:
    graph = runs.build([("bad_echo", {"text": "hello"})], ["mcp:bad/echo"])

    await graph.ainvoke(REQUEST, THREAD)
    rejected = {"type": "reject", "message": "not on a Sunday"}
    state = await graph.ainvoke(Command(resume={"decisions": [rejected]}), THREAD)

    (message,) = runs.list_tool_messages()
    assert "mcp:bad/echo was not called: a human rejected the call: not on a Sunday" in message
    assert any("not on a Sunday" in gap for gap in state["answer"].gaps)


async def test_without_a_human_to_ask_the_call_is_refused_and_said(runs: Runs) -> None:
    graph = runs.build([("bad_echo", {"text": "hello"})], ["mcp:bad/echo"], is_saved=False)

    state = await graph.ainvoke(REQUEST)

    assert state["status"] == "partial"
    assert any("no human can be asked" in gap for gap in state["answer"].gaps)


@pytest.mark.parametrize("tool", ["delete", "echo"])
async def test_the_team_and_a_destructive_hint_can_force_the_question(
    runs: Runs, tool: str
) -> None:
    forced = f'{HARMLESS}\napprove: ["mcp:bad/echo"]'
    graph = runs.build([(f"bad_{tool}", {"text": "hello"})], [f"mcp:bad/{tool}"], forced)

    await graph.ainvoke(REQUEST, THREAD)

    assert (await get_question(graph)).value["tool"] == f"mcp:bad/{tool}"


async def test_private_data_does_not_reach_a_tool_that_sends_anything(runs: Runs) -> None:
    calls = [("ledger", {}), ("bad_echo", {"text": "Zanzibar 4711"})]
    graph = runs.build(calls, ["ledger", "mcp:bad/echo"])

    state = await graph.ainvoke(REQUEST, THREAD)

    assert "private data was read" in runs.list_tool_messages()[-1]
    assert not (await graph.aget_state(THREAD)).interrupts and state["status"] == "done"


async def test_what_was_read_or_failed_before_a_question_counts_after_it(runs: Runs) -> None:
    asks = (
        'access: {"mcp:bad/delete": {reads: [], sends: nothing}, '
        '"mcp:bad/fail": {reads: [], sends: nothing, asks: false}}'
    )
    calls = [
        *(("bad_fail", {"text": "no access"}), ("ledger", {})),
        *(("bad_delete", {"text": "x"}), ("bad_echo", {"text": "Zanzibar 4711"})),
    ]
    tools = ["ledger", "mcp:bad/delete", "mcp:bad/echo", "mcp:bad/fail"]
    graph = runs.build(calls, tools, asks)

    await graph.ainvoke(REQUEST, THREAD)
    state = await graph.ainvoke(Command(resume="yes"), THREAD)

    assert "private data was read" in runs.list_tool_messages()[-1]
    assert "private" in state["results"]["a"].taint_labels
    assert any("no access" in gap for gap in state["answer"].gaps)


async def test_what_was_not_read_of_an_answer_is_a_gap(runs: Runs) -> None:
    graph = runs.build([("bad_image", {"text": "a cat"})], ["mcp:bad/image"], HARMLESS)

    state = await graph.ainvoke(REQUEST, THREAD)

    assert runs.list_tool_messages() == [
        "a cat\n[image, 40 kB, not read]\n[audio, 300 bytes, not read]"
    ]
    assert any("a part that is not read: image, 40 kB" in gap for gap in state["answer"].gaps)


async def test_an_answer_of_blocks_is_cut_and_cleaned_as_text_is(runs: Runs) -> None:
    calls = [("bad_many", {"text": "word"}), ("bad_control", {"text": ""})]
    graph = runs.build(calls, ["mcp:bad/many", "mcp:bad/control"], HARMLESS, calls_a_turn=2)

    state = await graph.ainvoke(REQUEST, THREAD)

    many, control = runs.list_tool_messages()
    assert len(many) <= 24_100 and control == "]0;titleseen"
    assert any("of which 24,000 are read" in gap for gap in state["answer"].gaps)


async def test_a_server_that_cannot_be_used_fails_its_task_alone(
    endpoint: Endpoint, settings: Settings, tmp_path: Path
) -> None:
    team = write_team(
        tmp_path / "pair",
        {"bad": describe_hostile("exit")},
        {"clerk": ["mcp:bad/echo"], "writer": []},
    )
    tasks = (ScriptedTask(id="a", worker="clerk"), ScriptedTask(id="b", worker="writer"))
    endpoint.load_scenario(Scenario(tasks=tasks))

    state = await build_supervisor(team, settings=settings).ainvoke(REQUEST)

    assert state["status"] == "partial" and state["results"]["b"].status == "completed"
    assert any("MCP server bad cannot be used" in gap for gap in state["answer"].gaps)


async def test_no_server_is_started_for_a_worker_without_a_task(
    endpoint: Endpoint, settings: Settings, tmp_path: Path
) -> None:
    state_file = tmp_path / "started"
    team = write_team(
        tmp_path / "pair",
        {"bad": describe_hostile("--state", str(state_file))},
        {"clerk": ["mcp:bad/echo"], "writer": []},
    )
    endpoint.load_scenario(Scenario(tasks=(ScriptedTask(id="b", worker="writer"),)))

    await build_supervisor(team, settings=settings).ainvoke(REQUEST)

    assert not state_file.exists()


async def test_a_server_cannot_take_the_name_of_another_tool_of_its_worker(runs: Runs) -> None:
    graph = runs.build([("bad_echo", {"text": "x"})], ["mcp:bad/ech*", "ledger"], HARMLESS)
    file = runs.folder / "tools" / "ledger.py"
    file.write_text(READS_PRIVATE.replace("@tool", '@tool("bad_echo")'))

    state = await graph.ainvoke(REQUEST, THREAD)

    assert "two tools are named 'bad_echo'" in str(state["answer"].gaps)


HARMLESS_ECHO = 'access: {"mcp:bad/echo": {reads: [untrusted], sends: nothing}}'


def write_two_tools(folder: Path, *arguments: str) -> Path:
    servers = {"bad": describe_hostile(*arguments)}
    tools = ["mcp:bad/echo", "mcp:bad/control"]
    return write_team(folder / "teams" / "ops", servers, {"clerk": tools}, HARMLESS_ECHO)


def test_it_lists_the_tools_with_their_access_and_writes_the_lock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = write_two_tools(tmp_path)

    report_problems(str(folder), Settings(), is_online=True)

    out = capsys.readouterr().out
    lock = json.loads((folder / "mcp.lock.json").read_text())
    assert "- mcp:bad/echo for clerk: reads untrusted; sends nothing\n" in out
    assert "mcp:bad/control for clerk: reads private and untrusted; sends anything; asks a" in out
    assert sorted(lock["servers"]["bad"]) == ["control", "echo"]


def test_it_marks_what_has_changed_since_the_last_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = write_two_tools(tmp_path, "--state", str(tmp_path / "state"))
    report_problems(str(folder), Settings(), is_online=True)
    capsys.readouterr()

    report_problems(str(folder), Settings(), is_online=True)

    out = capsys.readouterr().out
    assert "mcp:bad/control for clerk, changed since the last check" in out
    assert "mcp:bad/echo for clerk:" in out


def test_without_the_option_nothing_is_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    state = tmp_path / "state"
    folder = write_two_tools(tmp_path, "--state", str(state))

    report_problems(str(folder), Settings(), is_online=False)
    show_team(str(folder), Settings(), as_json=False)

    assert not state.exists()
    assert "MCP server bad: stdio: " in capsys.readouterr().out


def test_a_schema_that_grows_beyond_the_limit_is_an_error_and_writes_no_lock(
    tmp_path: Path,
):
    folder = write_team(tmp_path / "ops", {"bad": describe_hostile()}, {"clerk": ["mcp:bad/bomb"]})

    with pytest.raises(TeamInvalid, match="tool bomb of MCP server bad is refused"):
        report_problems(str(folder), Settings(), is_online=True)

    assert not (folder / "mcp.lock.json").exists()


def test_doctor_lists_the_servers(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = write_two_tools(tmp_path)

    run_doctor(Settings(team_folders=(folder.parent,)))

    assert "MCP ops/bad" in capsys.readouterr().out
