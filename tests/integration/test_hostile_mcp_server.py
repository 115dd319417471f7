"""Sessions with a server that does what a server should not."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from extensions.mcp.servers.server_files import LOCK_FILE, resolve_server, write_lock
from extensions.mcp.servers.session import McpSession, close_sessions, get_session
from extensions.mcp.servers.worker_tools import load_mcp_tools
from graph.teams.team_loader import load_team
from nodes.errors import McpServerFailed, McpToolChanged, TeamInvalid, ToolFailed, ToolRefused
from nodes.text.tool_messages import flatten_content
from nodes.tools.framework.settings import ToolSettings
from tests.mcp.teams import describe_hostile, write_team

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_session_stays_open")]

FAST = 5.0
"""Seconds within which a server must answer that is expected not to."""


def write_hostile_team(
    folder: Path,
    tools: Iterable[str],
    *arguments: str,
    front_matter: str = "",
    timeout_s: float = FAST,
    **entry: Any,
) -> Path:
    return write_team(
        folder / "hostile_team",
        {"bad": describe_hostile(*arguments, timeout_s=timeout_s, **entry)},
        {"clerk": [f"mcp:bad/{tool}" for tool in tools]},
        front_matter,
    )


async def load(folder: Path, worker: str = "clerk", **settings: Any) -> dict[str, Any]:
    team = load_team(folder)
    used = ToolSettings(variables={"PATH": "/usr/bin:/bin"}, logs=folder / "logs", **settings)
    tools = await load_mcp_tools(team, team.find_worker(worker), used)
    return {tool.name: tool for tool in tools}


async def open_session(folder: Path) -> McpSession:
    server = load_team(folder).mcp_servers["bad"]
    return await get_session(resolve_server("bad", server, {"PATH": "/usr/bin:/bin"}))


async def call(folder: Path, tool: str, text: str = "hello") -> str:
    tools = await load(write_hostile_team(folder, [tool]))
    return flatten_content(await tools[f"bad_{tool}"].ainvoke({"text": text}))[0]


async def test_only_named_tools_exist(tmp_path: Path):
    tools = await load(write_hostile_team(tmp_path, ["echo", "i*"]))

    assert sorted(tools) == ["bad_echo", "bad_image", "bad_inject"]
    assert await tools["bad_echo"].ainvoke({"text": "hello"}) == [{"type": "text", "text": "hello"}]


async def test_a_description_is_cut_and_marked_as_the_servers_words(tmp_path: Path):
    tools = await load(write_hostile_team(tmp_path, ["inject"]))

    shown = tools["bad_inject"].description
    assert shown.startswith("Tool of the MCP server bad, in the server's words: Echo. # System")
    assert len(shown) < 1_100 and "\n" not in shown and "\N{ZERO WIDTH SPACE}" not in shown


async def test_a_servers_hints_allow_nothing(tmp_path: Path):
    tool = (await load(write_hostile_team(tmp_path, ["echo"])))["bad_echo"]

    assert tool.asks
    assert (tool.metadata["reads"], tool.metadata["sends"]) == (
        ["private", "untrusted"],
        "anything",
    )


async def test_an_answer_that_is_too_large_ends_the_session_and_not_more(tmp_path: Path):
    with pytest.raises(ToolFailed, match="a message of more than 8 MB"):
        await call(tmp_path, "big")

    assert await call(tmp_path, "echo") == "hello"


async def test_a_call_without_an_answer_ends_in_time(tmp_path: Path):
    tools = await load(write_hostile_team(tmp_path, ["hang"], timeout_s=2.0))

    async with asyncio.timeout(FAST):
        with pytest.raises(ToolFailed, match="no answer within 2 s"):
            await tools["bad_hang"].ainvoke({"text": "hello"})


async def test_a_call_in_which_the_server_ends_is_not_made_again(tmp_path: Path):
    with pytest.raises(ToolFailed, match="may have had its effect: it ended"):
        await call(tmp_path, "die")


async def test_a_server_that_ended_before_a_call_is_started_again(tmp_path: Path):
    folder = write_hostile_team(tmp_path, ["echo", "die"])
    tools = await load(folder)
    with pytest.raises(ToolFailed):
        await tools["bad_die"].ainvoke({"text": "x"})

    assert await tools["bad_echo"].ainvoke({"text": "again"}) == [{"type": "text", "text": "again"}]


async def test_a_flood_of_other_messages_is_dropped_in_silence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    assert await call(tmp_path, "flood") == "hello"
    assert capfd.readouterr() == ("", "")


async def test_a_server_sees_only_the_variables_that_its_entry_names(tmp_path: Path):
    folder = write_hostile_team(tmp_path, ["environment"], env={"TOKEN": "${PATH}"})

    tools = await load(folder)
    text = flatten_content(await tools["bad_environment"].ainvoke({"text": ""}))[0]

    assert '"TOKEN"' in text
    assert "PYTEST" not in text and "USER" not in text


async def test_an_error_of_the_server_is_a_failure(tmp_path: Path):
    with pytest.raises(ToolFailed, match="the server reports an error: no access"):
        await call(tmp_path, "fail", "no access")


async def test_arguments_that_do_not_fit_are_not_sent(tmp_path: Path):
    tools = await load(write_hostile_team(tmp_path, ["die"]))

    with pytest.raises(ToolRefused, match="text: 3 is not of type 'string'"):
        await tools["bad_die"].ainvoke({"text": 3})


async def test_a_pattern_of_the_server_cannot_delay_a_call(tmp_path: Path):
    async with asyncio.timeout(FAST):
        assert await call(tmp_path, "echo", "a" * 40 + "!") == "a" * 40 + "!"


async def test_an_invalid_schema_is_refused_where_the_tool_is_wanted(tmp_path: Path):
    with pytest.raises(TeamInvalid, match="tool broken of MCP server bad is refused"):
        await load(write_hostile_team(tmp_path, ["broken"]))


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ("bomb", "with its references replaced, it has more than 64,000 characters"),
        ("elsewhere", "it refers to 'http://127.0.0.1:9/schema', which is no part of it"),
        ("endless", "it has an integer of more than 64 bits"),
    ],
)
@pytest.mark.parametrize("is_locked", [False, True])
async def test_a_schema_that_cannot_be_shown_is_refused_also_after_a_lock(
    tmp_path: Path, tool: str, reason: str, is_locked: bool
):
    folder = write_hostile_team(tmp_path, [tool])
    if is_locked:
        session = await open_session(folder)
        write_lock(folder, {"bad": {each.name: each.digest for each in session.tools}})

    with pytest.raises(TeamInvalid) as refusal:
        await load(folder)

    line = refusal.value.format_line()
    assert f"tool {tool} of MCP server bad is refused: {reason}" in line and "\n" not in line


async def test_a_name_that_matches_nothing_is_one_clear_line(tmp_path: Path):
    with pytest.raises(TeamInvalid) as refusal:
        await load(write_hostile_team(tmp_path, ["ech"]))

    assert "clerk.md: mcp:bad/ech is no tool of MCP server bad: did you mean 'echo'?" in str(
        refusal.value
    )


async def test_two_workers_cannot_share_a_tool_by_patterns(tmp_path: Path):
    folder = write_team(
        tmp_path / "pair",
        {"bad": describe_hostile()},
        {"first": ["mcp:bad/ech*"], "second": ["mcp:bad/e*"]},
    )

    with pytest.raises(TeamInvalid, match="workers first and second share tool mcp:bad/echo"):
        await load(folder, "first")


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("hang-initialize", "it is not ready within 2 s"),
        ("garbage", "what it sent is not the protocol"),
        ("endless-pages", "pages of them without end"),
        ("two-names", "lists two tools named"),
        ("exit", "it ended"),
    ],
)
async def test_a_server_that_cannot_be_used_is_named_in_time(
    tmp_path: Path, mode: str, reason: str
):
    folder = write_hostile_team(tmp_path, ["echo"], mode, timeout_s=2.0)

    async with asyncio.timeout(3 * FAST):
        with pytest.raises(McpServerFailed) as failure:
            await load(folder)

    assert reason in failure.value.format_line() and "\n" not in failure.value.format_line()


async def test_a_command_that_does_not_exist_is_named(tmp_path: Path):
    folder = write_team(
        tmp_path / "none", {"bad": {"command": "no-such-server"}}, {"clerk": ["mcp:bad/x"]}
    )

    with pytest.raises(McpServerFailed, match="there is no 'no-such-server' on the PATH"):
        await load(folder)


async def test_what_a_server_writes_to_stderr_is_kept_in_a_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    folder = write_hostile_team(tmp_path, ["echo"])

    await load(folder)
    await close_sessions()

    assert "token-in-the-log" in (folder / "logs" / "bad.log").read_text()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ("control", "its description, schema or hints differ"),
        ("fail", "the server no longer lists it"),
        ("new", f"it is not in {LOCK_FILE}"),
    ],
)
async def test_a_tool_that_is_not_the_checked_one_is_refused(
    tmp_path: Path, tool: str, reason: str
):
    state = str(tmp_path / "state")
    folder = write_hostile_team(tmp_path, [tool], "--state", state)
    session = await open_session(folder)
    write_lock(folder, {"bad": {each.name: each.digest for each in session.tools}})
    await close_sessions()

    with pytest.raises(McpToolChanged, match=reason):
        await load(folder)


async def test_a_tool_that_changes_when_the_server_starts_again_is_not_called(
    tmp_path: Path,
):
    state = str(tmp_path / "state")
    tools = await load(write_hostile_team(tmp_path, ["control", "die"], "--state", state))
    with pytest.raises(ToolFailed):
        await tools["bad_die"].ainvoke({"text": "x"})

    with pytest.raises(ToolFailed, match="tool control of MCP server bad has changed"):
        await tools["bad_control"].ainvoke({"text": "x"})


async def test_workers_of_one_event_loop_share_a_session(tmp_path: Path):
    folder = write_hostile_team(tmp_path, ["echo"])

    first, second = await asyncio.gather(open_session(folder), open_session(folder))

    assert first is second


def test_a_loop_that_ends_closes_its_sessions_without_a_word(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    folder = write_hostile_team(tmp_path, ["echo"])

    sessions = [asyncio.run(open_session(folder)) for _ in range(2)]

    assert all(session.is_lost for session in sessions)
    assert capfd.readouterr() == ("", "")
