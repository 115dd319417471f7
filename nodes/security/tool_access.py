"""What a tool reads and what it sends outside: declared by the tool, enforced by the tool loop.

A tool declares it in its `metadata`: `{"reads": ["private", "untrusted"], "sends": "nothing"}`; a
file of a team's `tools/` does so in a constant `ACCESS`, which is read without importing it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from langchain_core.tools import BaseTool

from nodes.errors import TeamInvalid
from nodes.schemas.servers import is_pattern, matches_pattern
from nodes.schemas.team import SentContent, Team, Worker
from state import TaintLabel


@dataclass(frozen=True)
class ToolAccess:
    """What a tool reads, and what it sends outside."""

    reads: frozenset[TaintLabel]
    sends: SentContent = "nothing"

    @property
    def metadata(self) -> dict[str, Any]:
        """Return the declaration in the form of a tool's metadata."""
        return {"reads": sorted(self.reads), "sends": self.sends}


UNDECLARED_ACCESS: Final = ToolAccess(frozenset(get_args(TaintLabel)), "anything")
"""The access of a tool that declares nothing."""
LOCAL_ACCESS: Final = ToolAccess(frozenset(get_args(TaintLabel)))
"""The access of a shipped tool: it reads the user's data, which others may have written."""
HAS_EFFECTS: Final = "has_effects"
"""Key of the metadata of a tool whose answer may differ at the next call."""
_SENT: Final = get_args(SentContent)
MCP_ADAPTER: Final = "langchain_mcp_adapters"
SERVER_KEYS: Final = frozenset(
    ("_meta", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
)
"""Keys of metadata that an adapter has copied from an MCP server."""
NON_LOCAL_TOOLS: Final[Mapping[str, ToolAccess]] = {
    "calculate": ToolAccess(frozenset()),
    "fetch_page": ToolAccess(frozenset({"untrusted"}), "address"),
    "format_document": ToolAccess(frozenset()),
    # The labels of a task's materials are on its attempt from the start.
    "read_material": ToolAccess(frozenset()),
    "web_search": ToolAccess(frozenset({"untrusted"}), "query"),
}
"""The exceptions among the shipped tools. A tool that opens a connection must be listed here."""


def get_declared_access(name: str, team: Team) -> ToolAccess:
    """Return what a tool of a team reads and sends, as far as is known without importing it."""
    if own := team.own_tools.get(name):
        return ToolAccess(frozenset(own.reads), own.sends)
    if is_pattern(name):
        return _get_pattern_access(name, team)
    if declared := team.find_declared_access(name):
        return ToolAccess(frozenset(declared.reads), declared.sends)
    return UNDECLARED_ACCESS if ":" in name else get_shipped_access(name)


def _get_pattern_access(name: str, team: Team) -> ToolAccess:
    """Return the access of all tools together that `mcp:SERVER/PATTERN` may mean.

    Each declaration that may be about one of them counts, and none that may leave one out is
    enough.
    """
    about = [
        (pattern, each)
        for pattern, each in team.access.items()
        if matches_pattern(pattern, name) or _may_overlap(pattern, name)
    ]
    if not any(_covers(pattern, name) for pattern, _ in about):
        return UNDECLARED_ACCESS
    reads = frozenset(label for _, each in about for label in each.reads)
    return ToolAccess(reads, max((each.sends for _, each in about), key=_SENT.index))


def _may_overlap(pattern: str, name: str) -> bool:
    """Return whether two patterns are of one server; what both match is not looked at."""
    server, other = pattern.partition("/")[0], name.partition("/")[0]
    return is_pattern(pattern) and server == other


def _covers(pattern: str, name: str) -> bool:
    """Return whether a pattern surely matches all that another one does."""
    has_stars_only = not {"?", "["} & {*pattern, *name}
    return pattern == name or (has_stars_only and matches_pattern(name, pattern))


def get_shipped_access(name: str) -> ToolAccess:
    """Return what a shipped tool reads and sends."""
    return NON_LOCAL_TOOLS.get(name, LOCAL_ACCESS)


def reaches_outside(team: Team) -> bool:
    """Return whether a tool or a remote worker of a team, or within it, may send something outside.

    A tool that is named by its module counts as one that does, since none is imported for this.
    """
    tools = [*team.grant, *(name for worker in team.workers for name in worker.tools)]
    inner = [worker.team for worker in team.workers if worker.team is not None]
    remote = [worker.remote for worker in team.workers if worker.remote is not None]
    if any(each.access.sends != "nothing" for each in remote):
        return True
    return any(get_declared_access(name, team).sends != "nothing" for name in tools) or any(
        map(reaches_outside, inner)
    )


def list_effect_tools(worker: Worker, team: Team) -> tuple[str, ...]:
    """Return the tools of a worker, or of the team that it is, that may do more than read.

    Those are tools that may send anything, tools that ask a human, and remote workers that may pass
    on what they are given. A search, or the reading of an address, has no effect.
    """
    if worker.remote:
        return (worker.remote.host,) if worker.remote.access.sends == "anything" else ()
    if worker.team:
        inner = worker.team
        return tuple(name for each in inner.roster for name in list_effect_tools(each, inner))
    return tuple(name for name in worker.tools if _may_have_effects(name, team))


def _may_have_effects(name: str, team: Team) -> bool:
    about = (*team.approve, *(pattern for pattern, each in team.access.items() if each.asks))
    asks = any(matches_pattern(name, each) or matches_pattern(each, name) for each in about)
    return asks or get_declared_access(name, team).sends == "anything"


def is_declared(tool: BaseTool | None) -> bool:
    """Return whether a tool says what it reads and sends; one that does has no other effects.

    An unknown tool does nothing either. A tool of an MCP server may have effects in any case.
    """
    if tool is None:
        return True
    declaration = read_declaration(tool)
    return "sends" in declaration and not declaration.get(HAS_EFFECTS)


def read_declaration(tool: BaseTool) -> dict[str, Any]:
    """Return a tool's metadata as its author wrote it; empty where a server may have written it.

    The adapter of LangChain copies into it whatever an MCP server sends as annotations.
    """
    function = getattr(tool, "coroutine", None) or getattr(tool, "func", None)
    module = str(getattr(function, "__module__", ""))
    metadata = tool.metadata or {}
    is_copied = module.partition(".")[0] == MCP_ADAPTER or not SERVER_KEYS.isdisjoint(metadata)
    return {} if is_copied else metadata


def read_access(tool: BaseTool) -> ToolAccess:
    """Return a tool's declared access; the defaults are the least trusted ones.

    Raises:
        TeamInvalid: the declaration is invalid.
    """
    metadata = read_declaration(tool)
    reads, sends = metadata.get("reads", get_args(TaintLabel)), metadata.get("sends", "anything")
    is_valid = isinstance(reads, list | tuple | set | frozenset) and set(reads) <= set(
        get_args(TaintLabel)
    )
    if not is_valid or sends not in get_args(SentContent):
        raise TeamInvalid(
            f"the metadata of tool {tool.name!r} is invalid",
            cause=f"reads is {reads!r:.80}, sends is {sends!r:.80}",
            next=f"reads: a list of {', '.join(get_args(TaintLabel))}; "
            f"sends: one of {', '.join(get_args(SentContent))}",
        )
    return ToolAccess(frozenset(reads), sends)
