"""Holds the graphs of `supervise ui`, where LangGraph's server finds each by its name."""

from collections.abc import Iterable
from pathlib import Path

from graph.server.team_graph import build_team_graph
from nodes.errors import TeamInvalid


def add_graphs(folders: Iterable[Path]) -> tuple[dict[str, str], list[str]]:
    """Return the place of each team's graph, and a line for each team that cannot be loaded."""
    places: dict[str, str] = {}
    problems: list[str] = []
    for folder in folders:
        name = folder.resolve().name
        try:
            globals()[name] = build_team_graph(folder)
        except TeamInvalid as error:
            problems.append(f"team {name} is left out: {error}")
        else:
            places[name] = f"{__name__}:{name}"
    return places, problems
