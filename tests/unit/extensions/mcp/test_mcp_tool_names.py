"""The names under which a model knows tools of MCP servers."""

import pytest

from extensions.mcp.servers.mcp_tool import build_tool_name
from nodes.limits.patterns import Pattern

ALLOWED = Pattern(r"[A-Za-z0-9_-]{1,64}")


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("github", "search_issues", "github_search_issues"),
        ("git", "git_log", "git_log"),
        ("fetch", "fetch", "fetch"),
        ("my.files", "read/text", "my_files_read_text"),
    ],
)
def test_a_name_holds_server_and_tool(server: str, tool: str, name: str) -> None:
    assert build_tool_name(server, tool) == name


def test_a_long_name_is_cut_and_stays_distinct() -> None:
    names = {build_tool_name("server", "x" * 100 + end) for end in ("a", "b")}

    assert len(names) == 2 and all(map(ALLOWED.fullmatch, names))
