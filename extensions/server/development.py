"""LangGraph's development server for `supervise ui`, as a process of its own.

Its arguments are a port, and teams. It ends when its standard input does, however the process that
holds the other end has ended.
"""

import json
import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import Final

from graph.settings import Settings
from graph.studio import build_team_graph
from graph.teams.team_loader import find_team, list_teams, load_team
from nodes.errors import SupervisorError, TeamInvalid

HOST: Final = "127.0.0.1"
JOBS: Final = 10
"""With one, runs wait for each other."""
AUTH: Final = Path(__file__).with_name("auth.py")


def serve(port: int, teams: Sequence[str]) -> None:
    """Serve teams, all by default, until a signal ends the process.

    Raises:
        TeamInvalid: none of the teams can be loaded.
    """
    from langgraph_api.cli import run_server  # type: ignore[import-untyped]  # slow, optional, untyped

    settings = Settings()
    folders = [find_team(name, settings) for name in teams] or list_teams(settings)
    graphs, problems = add_graphs(folders)
    for problem in problems:
        sys.stderr.write(f"warning: {problem}\n")
    if not graphs:
        raise TeamInvalid("no team can be loaded", next="supervise check PATH lists the problems")
    run_server(
        HOST,
        port,
        reload=False,
        graphs=graphs,
        n_jobs_per_worker=JOBS,
        auth={"path": f"{AUTH}:auth", "disable_studio_auth": True},
        http={"app": "extensions.server.studio_access:app"},
        env={
            "LANGGRAPH_CLI_NO_ANALYTICS": "1",
            "LANGGRAPH_NO_VERSION_CHECK": "1",
            "LANGGRAPH_STRICT_MSGPACK": "true",
            "LANGSMITH_TRACING_V2": json.dumps(settings.langsmith_tracing),
        },
    )


def main() -> int:
    """Serve what the command line names; return the exit code of a start that failed."""
    Thread(target=_end_with_input, daemon=True).start()
    try:
        serve(int(sys.argv[1]), sys.argv[2:])
    except SupervisorError as error:
        sys.stderr.write(f"{error.format_line()}\n")
        return error.exit_code
    return 0


def _end_with_input() -> None:
    while sys.stdin.buffer.read(4096):
        continue
    os.kill(os.getpid(), signal.SIGTERM)


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
