"""A server of `mcp.json` with the user's variables, and the digests in `mcp.lock.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nodes.errors import TeamInvalid
from nodes.errors.redaction import register_secrets
from nodes.limits.nesting import parse_json
from nodes.schemas.servers import McpServer, list_address_secrets, list_secrets
from nodes.text.variables import VariableUnset, expand_variables

LOCK_FILE: Final = "mcp.lock.json"
Digests = Mapping[str, str]
"""The digest of each tool's description and schema, by the tool's name."""


def read_lock(folder: Path) -> dict[str, Digests]:
    """Return the digests of each server's tools; empty without the file.

    Raises:
        TeamInvalid: the file cannot be read.
    """
    path = folder / LOCK_FILE
    if not path.exists():
        return {}
    try:
        servers = parse_json(path.read_text(encoding="utf-8"))["servers"]
        return {str(name): dict(digests) for name, digests in servers.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TeamInvalid(
            f"{path} cannot be read",
            cause=f"{type(error).__name__}: {error}",
            next=f"supervise check --online {folder} writes it again",
        ) from None


def write_lock(folder: Path, servers: Mapping[str, Digests]) -> Path:
    """Write the digests of each server's tools into a team's folder; return the file's path."""
    content = {name: dict(sorted(digests.items())) for name, digests in sorted(servers.items())}
    path = folder / LOCK_FILE
    path.write_text(json.dumps({"version": 1, "servers": content}, indent=2) + "\n")
    return path


INHERITED_VARIABLES: Final = ("PATH", "HOME", "LANG", "TMPDIR")
"""All that a started server sees of the user's environment, besides what `env` names."""


@dataclass(frozen=True, kw_only=True)
class ResolvedServer:
    """A server that can be connected; equal ones share a session."""

    name: str
    transport: str
    timeout_s: float
    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    cwd: str = ""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    log: Path | None = field(default=None, compare=False)
    """File for what it writes to stderr."""


def resolve_server(
    name: str, server: McpServer, variables: Mapping[str, str], logs: Path | None = None
) -> ResolvedServer:
    """Return a server with its variables put in; values that may be secret are registered.

    Raises:
        TeamInvalid: a variable is not set and has no default.
    """

    def expand(text: str) -> str:
        try:
            return expand_variables(text, variables.get)[0]
        except VariableUnset as error:
            raise TeamInvalid(
                f"{Path(server.folder, 'mcp.json')}: server {name} needs the variable "
                f"{error.name}, which is not set",
                next=error.advice,
            ) from None

    environment = {key: expand(value) for key, value in server.env.items()}
    headers = {key: expand(value) for key, value in server.headers.items()}
    url = expand(server.url)
    register_secrets([*list_secrets({**environment, **headers}), *list_address_secrets(url)])
    inherited = {key: variables[key] for key in INHERITED_VARIABLES if key in variables}
    is_started = server.transport == "stdio"
    return ResolvedServer(
        name=name,
        transport=server.transport,
        timeout_s=server.timeout_s,
        command=tuple(map(expand, (server.command, *server.args))) if is_started else (),
        environment=tuple(({**inherited, **environment} if is_started else {}).items()),
        cwd=str(Path(server.folder, expand(server.cwd))) if is_started else "",
        url=url,
        headers=tuple(headers.items()),
        log=logs / f"{name}.log" if logs else None,
    )
