"""The teams that an MCP server offers, a tool each, and the tools for runs that wait."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mcp import types

from extensions.mcp.server.arguments import (
    AnswerArguments,
    LocalRunArguments,
    ResumeArguments,
    RunArguments,
    describe_arguments,
)
from extensions.mcp.server.result import describe_result
from graph.settings import Settings
from graph.teams.team_loader import find_team, load_team
from nodes.errors import TeamInvalid
from nodes.schemas.team import Team
from nodes.text.plain_text import sanitize_line

ANSWER_TOOL: Final = "answer_question"
RESUME_TOOL: Final = "resume_run"
MAX_DESCRIPTION_CHARS: Final = 2000


@dataclass(frozen=True)
class ServedTeam:
    """A team, and the folder by which a resume finds it again."""

    team: Team
    folder: Path


def load_served_teams(names: Sequence[str | Path], settings: Settings) -> dict[str, ServedTeam]:
    """Return teams by name.

    Raises:
        TeamInvalid: one cannot be loaded, or its name is taken.
    """
    served: dict[str, ServedTeam] = {}
    for name in names:
        folder = find_team(name, settings).resolve()
        team = load_team(folder, settings)
        if team.name in (*served, ANSWER_TOOL, RESUME_TOOL):
            raise TeamInvalid(
                f"two tools would be named {team.name!r}", next="rename the team's folder"
            )
        served[team.name] = ServedTeam(team, folder)
    return served


def list_tools(teams: Mapping[str, ServedTeam], *, is_local: bool) -> list[types.Tool]:
    """Return the descriptions of all tools.

    Args:
        is_local: whether the client runs on this machine and may name files.
    """
    kind = LocalRunArguments if is_local else RunArguments
    output = describe_result()
    return [
        *(
            _describe_tool(name, _describe_team(served.team), describe_arguments(kind), output)
            for name, served in teams.items()
        ),
        _describe_tool(
            ANSWER_TOOL,
            "Answer the open question of a run, which then continues and returns its answer.",
            describe_arguments(AnswerArguments),
            output,
        ),
        _describe_tool(
            RESUME_TOOL,
            "Resume a run that was cancelled, failed or answered in part. Finished tasks are kept.",
            describe_arguments(ResumeArguments),
            output,
        ),
    ]


def _describe_tool(
    name: str, description: str, inputs: dict[str, Any], output: dict[str, Any]
) -> types.Tool:
    return types.Tool(name=name, description=description, inputSchema=inputs, outputSchema=output)


def _describe_team(team: Team) -> str:
    workers = "; ".join(f"{worker.name}: {worker.description}" for worker in team.workers)
    return sanitize_line(
        f"{team.description.rstrip('.')}. A team that plans the request, works on its parts in "
        f"parallel and answers with sources, gaps and confidence. Workers: {workers}",
        MAX_DESCRIPTION_CHARS,
    )
