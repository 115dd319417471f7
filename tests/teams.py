"""Teams for tests: workers without tools, or with one that needs nothing."""

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
