"""Resources that tools may access; `graph/settings.py` reads them from the environment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


@dataclass(frozen=True, kw_only=True)
class ToolSettings:
    """Places and keys; a tool that lacks one refuses and names the setting to set."""

    documents: Path | None = None
    """Folder that document search reads."""
    sql_url: str | None = None
    """Database the analyst reads: a path, or `sqlite:///`, `duckdb:///`, `postgresql://`."""
    repository: Path | None = None
    """Git repository of the code under review: whole files and history are read from it."""
    run_code: bool = False
    """Whether code that a request brings, or that a model wrote, may be run."""
    output: Path = field(default_factory=lambda: Path(".supervise") / "documents")
    """Folder that finished documents are written to."""
    tavily_api_key: str | None = field(default=None, repr=False)
    logs: Path = field(default_factory=lambda: Path(".supervise") / "mcp")
    """Folder for what MCP servers write to stderr."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """The user's variables, from which a team's files take the values that they name."""
    given: "Mapping[str, BaseTool]" = field(default_factory=dict)
    """Tools that a program passes as objects, by the names under which workers hold them."""
    recorded: "Mapping[str, Sequence[BaseTool]] | None" = None
    """The tools of a run that is replayed, by worker; then none is loaded and no server asked."""
