"""Collects all problems in a team's folder: its files, its tools, and what extensions read."""

from pathlib import Path

from graph.extensions import collect
from graph.settings import Settings
from graph.teams.front_matter import FileProblem
from graph.teams.team_folder import TEAM_FILE, TOOLS_FOLDER
from graph.teams.team_loader import find_team, list_team_problems
from nodes.tools.framework.own_tools_check import check_own_tools


def check_team(name_or_path: str | Path, settings: Settings | None = None) -> list[str]:
    """Return the problems in a team's files; empty if there are none.

    Raises:
        TeamInvalid: there is no such team.
    """
    folder = find_team(name_or_path, settings)
    problems = list_team_problems(folder, settings)
    return problems + collect(lambda each: each.list_team_problems(folder, settings))


def check_tools(name_or_path: str | Path, settings: Settings | None = None) -> list[str]:
    """Return the problems in the tools of a team, and of the teams inside its folder.

    Raises:
        TeamInvalid: there is no such team.
    """
    folder = find_team(name_or_path, settings)
    if not (folder / TEAM_FILE).is_file():
        return []  # whatever is somewhere below it is not asked for
    teams = sorted(folder.rglob(TEAM_FILE))
    folders = [path.parent / TOOLS_FOLDER for path in teams]
    problems = [
        problem
        for folder in folders
        if any(folder.glob("*.py"))
        for problem in check_own_tools(folder)
    ]
    return [str(FileProblem(Path(file), text, line)) for file, line, text in problems]
