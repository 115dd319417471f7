"""What a tool of an MCP server may do, and whether a human is asked before each call.

The user's word counts; a server's own hints only make it stricter, unless the user trusts it.
"""

from dataclasses import dataclass

from nodes.schemas.servers import MCP_PREFIX, matches_pattern
from nodes.schemas.team import DeclaredAccess, Team
from nodes.security.tool_access import UNDECLARED_ACCESS, ToolAccess


@dataclass(frozen=True)
class ServerHints:
    """What a server says of its tool; None where it says nothing."""

    read_only: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True)
class McpAccess:
    """What a tool reads and sends, and whether a human is asked before each call."""

    access: ToolAccess
    asks: bool
    may_have_effects: bool = True
    """Whether a call must not be made twice."""


def decide_mcp_access(team: Team, server: str, tool: str, hints: ServerHints) -> McpAccess:
    """Return the access of a server's tool, by its name at the server."""
    name = f"{MCP_PREFIX}{server}/{tool}"
    declared = team.find_declared_access(name)
    believed = hints if team.mcp_servers[server].trust else ServerHints()
    is_harmless = declared is not None and declared.sends != "anything"
    is_risky = hints.read_only is False or bool(hints.destructive and not believed.read_only)
    may_have_effects = is_risky or not (is_harmless or believed.read_only)
    asks = may_have_effects if declared is None or declared.asks is None else declared.asks
    must_ask = any(matches_pattern(name, pattern) for pattern in team.approve)
    return McpAccess(
        access=_decide_access(declared, believed, hints),
        asks=asks or must_ask,
        may_have_effects=may_have_effects,
    )


def _decide_access(
    declared: DeclaredAccess | None, believed: ServerHints, hints: ServerHints
) -> ToolAccess:
    if declared is None:
        is_closed = bool(believed.read_only) and believed.open_world is False
        return ToolAccess(UNDECLARED_ACCESS.reads) if is_closed else UNDECLARED_ACCESS
    is_contradicted = declared.sends == "nothing" and bool(hints.open_world)
    return ToolAccess(frozenset(declared.reads), "anything" if is_contradicted else declared.sends)
