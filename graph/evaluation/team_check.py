"""Collects all problems in a team's folder: its files and its exam."""

from pathlib import Path

from graph.evaluation.exam_file import EXAM_FILE, read_exam
from graph.settings import Settings
from graph.teams.team_loader import find_team, list_team_problems, load_team


def check_team(name_or_path: str | Path, settings: Settings | None = None) -> list[str]:
    """Return the problems in a team's files and its exam; empty if there are none.

    Raises:
        TeamInvalid: there is no such team.
    """
    folder = find_team(name_or_path, settings)
    problems = list_team_problems(folder, settings)
    if (folder / EXAM_FILE).exists():
        workers = () if problems else [each.name for each in load_team(folder, settings).workers]
        problems += map(str, read_exam(folder, workers)[1])
    return problems
