"""What tools of MCP servers may do: the user's word, and hints that only make it stricter."""

from typing import Any

import pytest
from langchain_core.tools import StructuredTool
from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool
from mcp.types import Tool

from extensions.mcp.servers.listed_tool import ServerHints, decide_mcp_access
from nodes.schemas.servers import McpServer
from nodes.schemas.team import DeclaredAccess, Team
from nodes.security.tool_access import (
    UNDECLARED_ACCESS,
    get_declared_access,
    is_declared,
    read_access,
)
from tests.teams import make_team

HARMLESS = DeclaredAccess(reads=("untrusted",), sends="nothing")
SENDS = DeclaredAccess(reads=(), sends="anything")
LIES: Any = {"readOnlyHint": True, "openWorldHint": False, "reads": [], "sends": "nothing"}
NOTES: Any = {"type": "object", "properties": {}}
READS = ServerHints(read_only=True, open_world=False)


def make_server_team(*, trust: bool = False, **fields: Any) -> Team:
    server = McpServer(command="x", trust=trust)
    return make_team().model_copy(update={"mcp_servers": {"s": server}, **fields})


def test_what_an_adapter_copied_from_a_server_declares_nothing() -> None:
    sent = Tool.model_validate(
        {"name": "t", "inputSchema": NOTES, "annotations": LIES, "_meta": {"sends": "nothing"}}
    )
    tool = convert_mcp_tool_to_langchain_tool(None, sent, connection={"transport": "stdio"})  # type: ignore[arg-type]  # it is never connected

    assert tool.metadata and tool.metadata["sends"] == "nothing"
    assert read_access(tool) == UNDECLARED_ACCESS
    assert not is_declared(tool)


def test_hints_in_the_metadata_of_any_tool_make_its_declaration_doubtful() -> None:
    tool = StructuredTool.from_function(lambda: "", name="t", description="T.", metadata=LIES)

    assert read_access(tool) == UNDECLARED_ACCESS


def test_a_tool_that_nothing_is_declared_of_reads_and_sends_anything_and_asks() -> None:
    found = decide_mcp_access(make_server_team(), "s", "t", READS)

    assert (found.access, found.asks) == (UNDECLARED_ACCESS, True)


def test_the_hints_of_a_trusted_server_may_loosen() -> None:
    found = decide_mcp_access(make_server_team(trust=True), "s", "t", READS)

    assert (found.access.sends, found.asks) == ("nothing", False)
    assert found.access.reads == UNDECLARED_ACCESS.reads


@pytest.mark.parametrize(
    ("hints", "sends", "asks"),
    [
        (ServerHints(), "nothing", False),
        (READS, "nothing", False),
        (ServerHints(open_world=True), "anything", False),
        (ServerHints(destructive=True), "nothing", True),
        (ServerHints(read_only=False), "nothing", True),
    ],
)
def test_hints_make_what_the_user_declares_stricter(
    hints: ServerHints, sends: str, asks: bool
) -> None:
    team = make_server_team(access={"mcp:s/*": HARMLESS})

    found = decide_mcp_access(team, "s", "t", hints)

    assert (found.access.sends, found.asks) == (sends, asks)


def test_a_destructive_tool_of_a_trusted_server_asks() -> None:
    team = make_server_team(trust=True)

    assert decide_mcp_access(team, "s", "t", ServerHints(destructive=True)).asks


def test_the_user_may_declare_that_no_human_is_asked_and_may_force_it() -> None:
    silent = HARMLESS.model_copy(update={"asks": False})
    team = make_server_team(access={"mcp:s/*": silent}, approve=("mcp:s/delete",))
    hints = ServerHints(destructive=True)

    asks = {name: decide_mcp_access(team, "s", name, hints).asks for name in ("move", "delete")}

    assert asks == {"move": False, "delete": True}


def test_the_last_pattern_that_matches_counts() -> None:
    narrow = DeclaredAccess(reads=(), sends="query")
    team = make_server_team(access={"mcp:s/*": HARMLESS, "mcp:s/find_*": narrow})

    assert decide_mcp_access(team, "s", "find_x", ServerHints()).access.sends == "query"


@pytest.mark.parametrize(
    ("sends", "hints", "may_have_effects"),
    [
        ("anything", ServerHints(), True),
        ("nothing", ServerHints(destructive=True), True),
        ("nothing", ServerHints(), False),
    ],
)
def test_a_tool_that_does_not_ask_may_still_have_effects(
    sends: Any, hints: ServerHints, may_have_effects: bool
) -> None:
    declared = DeclaredAccess(reads=(), sends=sends, asks=False)
    found = decide_mcp_access(make_server_team(access={"mcp:s/t": declared}), "s", "t", hints)

    assert (found.asks, found.may_have_effects) == (False, may_have_effects)


@pytest.mark.parametrize(
    ("tool", "declared", "sends"),
    [
        ("mcp:s/*", {"mcp:s/*": HARMLESS}, "nothing"),
        ("mcp:s/git_*", {"mcp:s/*": HARMLESS}, "nothing"),
        ("mcp:s/*", {"mcp:s/*": HARMLESS, "mcp:s/push": SENDS}, "anything"),
        ("mcp:s/g*", {"mcp:s/*": HARMLESS, "mcp:s/push": SENDS}, "nothing"),
        ("mcp:s/*", {"mcp:s/?": HARMLESS}, "anything"),
        ("mcp:s/*", {"mcp:s/git_*": HARMLESS}, "anything"),
        ("mcp:s/*", {"mcp:s/*": HARMLESS, "mcp:other/*": SENDS}, "nothing"),
    ],
)
def test_a_pattern_of_tools_sends_what_any_of_them_may_send(
    tool: str, declared: dict[str, DeclaredAccess], sends: str
) -> None:
    assert get_declared_access(tool, make_server_team(access=declared)).sends == sends
