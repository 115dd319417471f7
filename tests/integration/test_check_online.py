"""`supervise check --online`: what the servers have, and the lock."""

import json
from pathlib import Path

import pytest

from graph.commands.doctor import run_doctor
from graph.commands.teams import report_problems, show_team
from graph.settings import Settings
from nodes.errors import McpServerFailed, TeamInvalid
from tests.mcp.teams import describe_hostile, write_team

pytestmark = pytest.mark.slow

HARMLESS = 'access: {"mcp:bad/echo": {reads: [untrusted], sends: nothing}}'


def write_two_tools(folder: Path, *arguments: str) -> Path:
    servers = {"bad": describe_hostile(*arguments)}
    tools = ["mcp:bad/echo", "mcp:bad/control"]
    return write_team(folder / "teams" / "ops", servers, {"clerk": tools}, HARMLESS)


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


def test_a_server_that_cannot_be_used_is_an_error(tmp_path: Path):
    with pytest.raises(McpServerFailed):
        report_problems(str(write_two_tools(tmp_path, "exit")), Settings(), is_online=True)


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
