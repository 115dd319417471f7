"""What a tool reads and what it sends outside: declared by the tool, held by the worker's loop.

A tool's `metadata` says it: `{"reads": ["private", "untrusted"], "sends": "nothing"}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from langchain_core.tools import BaseTool

from nodes.errors import TeamInvalid
from state import TaintLabel, Team

SentContent = Literal["nothing", "query", "address", "anything"]
"""What leaves this machine with a call: words to search for, an address to fetch, or anything."""


@dataclass(frozen=True)
class ToolAccess:
    """What a tool reads, and what it sends outside."""

    reads: frozenset[TaintLabel]
    sends: SentContent = "nothing"

    @property
    def metadata(self) -> dict[str, Any]:
        """Return the declaration as a tool bears it."""
        return {"reads": sorted(self.reads), "sends": self.sends}


UNDECLARED_ACCESS: Final = ToolAccess(frozenset(get_args(TaintLabel)), "anything")
"""Of a tool that declares nothing."""
LOCAL_ACCESS: Final = ToolAccess(frozenset(get_args(TaintLabel)))
"""Of a shipped tool: it reads what the user has, which others may have written."""
NON_LOCAL_TOOLS: Final[Mapping[str, ToolAccess]] = {
    "calculate": ToolAccess(frozenset()),
    "fetch_page": ToolAccess(frozenset({"untrusted"}), "address"),
    "format_document": ToolAccess(frozenset()),
    "web_search": ToolAccess(frozenset({"untrusted"}), "query"),
}
"""The shipped tools that are otherwise. One that opens a connection must stand here."""


def get_shipped_access(name: str) -> ToolAccess:
    """Return what a shipped tool reads and sends."""
    return NON_LOCAL_TOOLS.get(name, LOCAL_ACCESS)


def reaches_outside(team: Team) -> bool:
    """Return whether a tool of a team, or of one within it, may send something outside.

    A tool of the user's own counts as one that does: none is imported for this.
    """
    held = [*team.grant, *(name for worker in team.workers for name in worker.tools)]
    inner = [worker.team for worker in team.workers if worker.team is not None]
    return any(":" in name or get_shipped_access(name).sends != "nothing" for name in held) or any(
        map(reaches_outside, inner)
    )


def read_access(tool: BaseTool) -> ToolAccess:
    """Read a tool's declaration; what it does not say counts as the worst.

    Raises:
        TeamInvalid: it says something that cannot be.
    """
    said = tool.metadata or {}
    reads, sends = said.get("reads", get_args(TaintLabel)), said.get("sends", "anything")
    known = isinstance(reads, list | tuple | set | frozenset) and set(reads) <= set(
        get_args(TaintLabel)
    )
    if not known or sends not in get_args(SentContent):
        raise TeamInvalid(
            f"the metadata of tool {tool.name!r} cannot be read",
            cause=f"reads is {reads!r:.80}, sends is {sends!r:.80}",
            next=f"reads: a list of {', '.join(get_args(TaintLabel))}; "
            f"sends: one of {', '.join(get_args(SentContent))}",
        )
    return ToolAccess(frozenset(reads), sends)
