"""Holds the graphs of `supervise ui`, where LangGraph's server finds each by its name."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from graph.studio import build_team_graph
from graph.teams.team_loader import load_team
from nodes.errors import TeamInvalid

Place = Mapping[str, str]
"""Where the server finds a graph: `path`, and the graph's `description`."""
PREFIX: Final = "team_"
"""Of the graphs in this module; nothing else in it begins so."""


def add_graphs(folders: Iterable[Path]) -> tuple[dict[str, Place], list[str]]:
    """Return the place of each team's graph, and a line for each team that cannot be loaded."""
    places: dict[str, Place] = {}
    problems: list[str] = []
    for folder in folders:
        name = folder.resolve().name
        try:
            if name in places:
                raise TeamInvalid("another team has this name; rename its folder")
            described = load_team(folder).description
            globals()[f"{PREFIX}{name}"] = build_team_graph(folder)
        except TeamInvalid as error:
            problems.append(f"team {name} is left out: {error}")
        else:
            places[name] = {"path": f"{__name__}:{PREFIX}{name}", "description": described}
    return places, problems
