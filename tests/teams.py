"""Teams for tests: workers without tools, or with one that needs nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nodes.schemas.team import Team, Worker

DEFAULT_WORKERS = ("researcher", "analyst", "writer")


def make_team(*names: str, **fields: Any) -> Team:
    """Make a team of workers that only report."""
    workers = tuple(
        Worker(name=name, description=f"Does what a {name} does.", instructions="Work.")
        for name in names or DEFAULT_WORKERS
    )
    return Team(
        **{
            "name": "trio",
            "description": "A team for tests.",
            "guidance": "Plan.",
            "workers": workers,
            "max_tasks": 100,
            "max_depth": 50,
            "max_steps": 500,
            **fields,
        }
    )


def write_team(
    folder: Path,
    keys: str = "description: Parts.",
    tools: Mapping[str, str] | None = None,
    **workers: str,
) -> Path:
    """Write the folder of a team.

    Args:
        keys: those of the team's file.
        tools: the code of each tool.
        workers: the keys of each worker's file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "team.md").write_text(f"---\n{keys}\n---\nA task for each part.\n")
    for name, front in workers.items():
        (folder / f"{name}.md").write_text(f"---\n{front}\n---\nWork.\n")
    for name, code in (tools or {}).items():
        (folder / "tools").mkdir(exist_ok=True)
        (folder / "tools" / f"{name}.py").write_text(code)
    return folder
