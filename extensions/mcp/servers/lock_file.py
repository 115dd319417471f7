"""`mcp.lock.json`: the digests of the tools that the user has checked, beside `mcp.json`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from nodes.errors import TeamInvalid
from nodes.limits.nesting import parse_json

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
