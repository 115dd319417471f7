"""The commands on teams: their options, and what they call. Light: help needs them, too."""

from pathlib import Path
from typing import Annotated

import typer

from graph.commands.options import JsonOption, UrlOption, option, switch
from graph.commands.settings_loading import load_settings


def teams(
    name: Annotated[
        str | None, typer.Argument(metavar="TEAM", help="The team to describe.")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """List the teams, or describe one."""
    from graph.commands import teams as command

    if name is None:
        return command.show_teams(load_settings(), as_json=as_json)
    return command.show_team(name, load_settings(), as_json=as_json)


def check(
    path: Annotated[
        str, typer.Argument(metavar="TEAM", help="A team's folder or name, or a folder of teams.")
    ],
    online: bool = switch(
        "--online", "Connect the team's MCP servers, list their tools, write mcp.lock.json."
    ),
) -> int:
    """List all problems in a team's files."""
    from graph.commands import teams as command

    return command.report_problems(path, load_settings(announces=True), is_online=online)


def new_team(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The team's name: letters, digits and _.")
    ],
    into: Path = option("--into", "FOLDER", "The parent folder.", default=Path()),
) -> int:
    """Create a working example team that you can change."""
    from graph.commands.teams import make_team_folder

    return make_team_folder(name, into)


def draw(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A team's name or folder, or the thread of a run; last: the newest run.",
        ),
    ],
    flat: bool = switch("--flat", "Of a team: only the top level."),
    out: Path | None = option(
        "--out", "FILE", "Write it to this file, not to stdout; .md puts it between fences."
    ),
    url: UrlOption = None,
) -> int:
    """Draw a team's graph or the plan of a run, as Mermaid."""
    from graph.commands import teams as command
    from graph.commands.runs import find_thread, open_runs

    settings = load_settings()
    if url is None and command.is_team(name, settings):
        return command.draw_team(name, settings, is_flat=flat, out=out)
    runs = open_runs(url, settings)
    return command.draw_run(find_thread(name, runs), runs, out=out)
