"""What a tool reads and what it sends outside: declared by the tool, enforced by the tool loop.

A tool declares it in its `metadata`: `{"reads": ["private", "untrusted"], "sends": "nothing"}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from langchain_core.tools import BaseTool

from nodes.errors import TeamInvalid
from nodes.schemas.team import Team
from state import TaintLabel

SentContent = Literal["nothing", "query", "address", "anything"]
"""What leaves this machine with a call: words to search for, an address to fetch, or anything."""


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
NON_LOCAL_TOOLS: Final[Mapping[str, ToolAccess]] = {
    "calculate": ToolAccess(frozenset()),
    "fetch_page": ToolAccess(frozenset({"untrusted"}), "address"),
    "format_document": ToolAccess(frozenset()),
    "web_search": ToolAccess(frozenset({"untrusted"}), "query"),
}
"""The exceptions among the shipped tools. A tool that opens a connection must be listed here."""


def get_shipped_access(name: str) -> ToolAccess:
    """Return what a shipped tool reads and sends."""
    return NON_LOCAL_TOOLS.get(name, LOCAL_ACCESS)


def reaches_outside(team: Team) -> bool:
    """Return whether a tool of a team, or of a team within it, may send something outside.

    A tool of the user's own counts as one that does, since tools are not imported for this.
    """
    tools = [*team.grant, *(name for worker in team.workers for name in worker.tools)]
    inner = [worker.team for worker in team.workers if worker.team is not None]
    return any(":" in name or get_shipped_access(name).sends != "nothing" for name in tools) or any(
        map(reaches_outside, inner)
    )


def read_access(tool: BaseTool) -> ToolAccess:
    """Return a tool's declared access; the defaults are the least trusted ones.

    Raises:
        TeamInvalid: the declaration is invalid.
    """
    metadata = tool.metadata or {}
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
