"""Teams whose workers have tools of MCP servers."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HOSTILE_SERVER = Path(__file__).with_name("hostile_server.py")


def describe_hostile(*arguments: str, **more: Any) -> dict[str, Any]:
    """Return the entry of the hostile server in `mcp.json`."""
    return {"command": sys.executable, "args": [str(HOSTILE_SERVER), *arguments], **more}


def write_team(
    folder: Path,
    servers: Mapping[str, Any],
    workers: Mapping[str, Iterable[str]],
    front_matter: str = "",
) -> Path:
    """Write a team's folder: its servers, and the tools of each worker."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    text = f"---\ndescription: A team for tests.\n{front_matter}\n---\nA task for each part.\n"
    (folder / "team.md").write_text(text)
    for name, tools in workers.items():
        head = (
            f"---\ndescription: Does what a {name} does.\ntools: {json.dumps(list(tools))}\n---\n"
        )
        (folder / f"{name}.md").write_text(f"{head}Use the tools and report.\n")
    return folder
