"""A team's `mcp.json`, and what its other files say of the servers."""

import json
from pathlib import Path
from typing import Any

import pytest

from extensions.mcp.servers.server_files import (
    LOCK_FILE,
    read_lock,
    resolve_server,
)
from graph.settings import Settings
from graph.teams.team_loader import list_team_problems, load_team
from nodes.errors import TeamInvalid
from nodes.errors.redaction import redact_text
from nodes.text.variables import list_unset_variables
from tests.mcp.teams import write_team
from tests.trusted_files import write_trusted_env

GIT = {"command": "mcp-server-git", "args": ["--repository", "${REPO:-.}"]}
WEB = {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${WEB_TOKEN}"}}


def list_problems(folder: Path, servers: Any, tools: list[str], front_matter: str = "") -> str:
    write_team(folder / "ops", servers, {"clerk": tools}, front_matter)
    return "\n".join(list_team_problems(folder / "ops"))


def test_servers_are_read_in_the_usual_form(tmp_path: Path) -> None:
    team = load_team(
        write_team(
            tmp_path / "ops",
            {"git": {**GIT, "type": "stdio"}, "web": {**WEB, "type": "streamable-http"}},
            {"clerk": ["mcp:git/git_log", "mcp:web/get_*"]},
        )
    )

    assert team.mcp_servers["git"].transport == "stdio"
    assert (team.mcp_servers["web"].transport, team.mcp_servers["web"].trust) == ("http", False)


def test_variables_are_put_in_with_their_defaults(tmp_path: Path) -> None:
    team = load_team(
        write_team(tmp_path / "ops", {"git": GIT, "web": WEB}, {"clerk": ["mcp:git/*"]})
    )

    git = resolve_server("git", team.mcp_servers["git"], {"PATH": "/bin", "USER": "me"})
    web = resolve_server("web", team.mcp_servers["web"], {"WEB_TOKEN": "a-very-secret-word"})

    assert git.command == ("mcp-server-git", "--repository", ".")
    assert dict(git.environment) == {"PATH": "/bin"}
    assert dict(web.headers) == {"Authorization": "Bearer a-very-secret-word"}
    assert redact_text("it said a-very-secret-word") == "it said [secret]"


def test_a_variable_without_a_value_is_one_line_with_file_and_name(tmp_path: Path) -> None:
    team = load_team(write_team(tmp_path / "ops", {"web": WEB}, {"clerk": ["mcp:web/*"]}))

    with pytest.raises(TeamInvalid) as refusal:
        resolve_server("web", team.mcp_servers["web"], {})

    assert str(refusal.value) == (
        f"{tmp_path / 'ops' / 'mcp.json'}: server web needs the variable WEB_TOKEN, "
        "which is not set"
    )
    assert list_unset_variables(team.mcp_servers["web"].texts, {}) == ["WEB_TOKEN"]


def test_values_of_headers_are_not_listed(tmp_path: Path) -> None:
    servers = {"web": {"url": "https://example.org", "headers": {"X-Key": "literal-key-value"}}}
    team = load_team(write_team(tmp_path / "ops", servers, {"clerk": ["mcp:web/*"]}))

    assert "literal-key-value" not in json.dumps(team.model_dump(mode="json")) + repr(team)
    assert redact_text("literal-key-value") == "[secret]"


@pytest.mark.parametrize(
    ("servers", "problem"),
    [
        ({"git": {**GIT, "trsut": True}}, "unknown key 'trsut'; did you mean 'trust'?"),
        ({"git": {"args": []}}, "a server of type stdio needs a command"),
        ({"git": {"type": "http"}}, "a server of type http needs a url"),
        ({"git": {"type": "carrier pigeon", "url": "x"}}, "server git: type: Input should be"),
        ({"web": {"url": "http://[x"}}, "url must be an address such as https://example.com/mcp"),
        ({"web": {"url": "file:///etc/passwd"}}, "url must be an address"),
        ({"git": {**GIT, "timeout_s": 0}}, "timeout_s: Input should be greater than 0"),
        ({"my git": GIT}, "allowed are letters, digits"),
        ({"git": 3}, "must be an object with a command or a url"),
    ],
)
def test_what_is_wrong_with_a_server_is_said(tmp_path: Path, servers: Any, problem: str) -> None:
    assert problem in list_problems(tmp_path, servers, [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"mcpServers": {"git":\n}', "mcp.json:2: JSON syntax"),
        ('{"servers": {}}', "must be written"),
        ('{"mcpServers": {}, "inputs": []}', "unknown key 'inputs'"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_is_not_of_this_form_is_a_problem(
    tmp_path: Path, text: str, problem: str
) -> None:
    folder = write_team(tmp_path / "ops", {}, {"clerk": []})
    (folder / "mcp.json").write_text(text)

    assert problem in "\n".join(list_team_problems(folder))


@pytest.mark.parametrize(
    ("tool", "problem"),
    [
        ("mcp:gti/git_log", "mcp.json has no server 'gti'; did you mean 'git'?"),
        ("mcp:git", "must be written mcp:SERVER/TOOL"),
        ("mcp:git/", "must be written mcp:SERVER/TOOL"),
        ("mcp:git/a b", "must be written mcp:SERVER/TOOL"),
    ],
)
def test_a_tool_must_name_a_server_of_the_file(tmp_path: Path, tool: str, problem: str) -> None:
    assert problem in list_problems(tmp_path, {"git": GIT}, [tool])


@pytest.mark.parametrize(
    ("front_matter", "problem"),
    [
        ("access: {calculate: {reads: [], sends: nothing}}", "must be written mcp:SERVER/TOOL"),
        ('access: {"mcp:git/*": {reads: [secrets], sends: nothing}}', "access is 'secrets'"),
        ('access: {"mcp:git/*": {reads: []}}', "access is {'reads': []}"),
        ('approve: ["mcp:got/*"]', "mcp.json has no server 'got'"),
        ('grant: ["mcp:git/*"]', "specialists get no tools of MCP servers"),
    ],
)
def test_access_and_approval_name_tools_of_servers(
    tmp_path: Path, front_matter: str, problem: str
) -> None:
    found = list_problems(tmp_path, {"git": GIT}, [], front_matter)

    assert "team.md:3: " in found and problem in found


def test_variables_come_from_the_environment_and_from_env_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_trusted_env("Team_Repo=/srv/shop\nWEB_TOKEN=from-the-file\n")
    monkeypatch.setenv("WEB_TOKEN", "from-the-environment")

    variables = Settings().build_tool_settings().variables

    assert variables["Team_Repo"] == "/srv/shop"
    assert variables["WEB_TOKEN"] == "from-the-environment"


def test_a_key_in_an_address_is_a_secret(tmp_path: Path) -> None:
    servers = {
        "query": {"url": "https://example.org/mcp?key=${WEB_KEY}&v=literal-key-1"},
        "path": {"url": "https://ada:word-of-passage@example.org/${LONG_KEY}/mcp"},
    }
    folder = write_team(tmp_path / "ops", servers, {"clerk": ["mcp:query/*", "mcp:path/*"]})
    variables = {"WEB_KEY": "key-of-the-web", "LONG_KEY": "k" * 40}

    for name, server in load_team(folder).mcp_servers.items():
        url = resolve_server(name, server, variables).url
        assert redact_text(f"401 for {url}").count("[secret]") == 2


def test_a_lock_file_of_nothing_but_brackets_is_named(tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).write_text("[" * 200_000)

    with pytest.raises(TeamInvalid, match="cannot be read"):
        read_lock(tmp_path)
