"""The commands on teams: their options, and what they call. Light: help needs them, too."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from graph.commands.options import (
    JsonOption,
    OnlineOption,
    QuietOption,
    TeamArgument,
    UrlOption,
    VerboseOption,
)
from graph.commands.picture_format import PictureFormat, choose_format
from graph.commands.settings_loading import load_settings
from graph.display.streams import announce_start


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
    online: OnlineOption = False,
) -> int:
    """List all problems in a team's files."""
    from graph.commands import teams as command

    return command.report_problems(path, load_settings(announces=True), is_online=online)


def evaluate(
    team: TeamArgument,
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold",
            metavar="PERCENT",
            min=0,
            max=100,
            help="A lower score ends with exit code 3.",
        ),
    ] = 80.0,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against", metavar="OTHER", help="standard=MODEL, or another team. May be repeated."
        ),
    ] = None,
    worker: Annotated[
        list[Path] | None,
        typer.Option(
            "--worker",
            metavar="FILE",
            help="Compare with the team in which this file replaces the worker of its name, or is"
            " added. May be repeated.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Only the first N rows."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="ROW", help="Only the row with this id. May be repeated."),
    ] = None,
    judge: Annotated[
        Literal["fast", "standard", "strong"],
        typer.Option("--judge", metavar="TIER", help="The tier that judges `judged` rows."),
    ] = "strong",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Run a team's exam, evals.jsonl, and grade it."""
    if not quiet:
        announce_start(f"starting the exam of team {team}")
    from extensions.evals import command as command

    return command.evaluate(
        team,
        threshold=threshold,
        against=against or [],
        workers=worker or [],
        limit=limit,
        only=only or [],
        judge_tier=judge,
        as_json=as_json,
        quiet=quiet,
        settings=load_settings(may_ask=True, announces=not quiet),
    )


def new_team(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The team's name: letters, digits and _.")
    ],
    into: Annotated[
        Path, typer.Option("--into", metavar="FOLDER", help="The parent folder.")
    ] = Path(),
) -> int:
    """Create a working example team that you can change."""
    from graph.commands.new_team import make_team_folder

    return make_team_folder(name, into)


def draw(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A team's name or folder, or the thread of a run; last: the newest run.",
        ),
    ],
    what: Annotated[
        Literal["plan", "timeline"] | None,
        typer.Option("--what", metavar="WHAT", help="Of a run: plan, or timeline."),
    ] = None,
    format: Annotated[
        PictureFormat | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="A plan: mermaid or svg; a team: mermaid only; a timeline: svg only.",
        ),
    ] = None,
    flat: Annotated[bool, typer.Option("--flat", help="Of a team: only the top level.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write it to this file, not to stdout; .svg, .mmd or .md chooses the format.",
        ),
    ] = None,
    url: UrlOption = None,
) -> int:
    """Draw a team's graph, or the plan or the timeline of a run."""
    from graph.commands import drawing
    from graph.commands.thread_names import find_thread

    settings = load_settings()
    if what is None and url is None and drawing.is_team(name, settings):
        choose_format("a team's graph", ("mermaid",), format, out)
        return drawing.draw_team(name, settings, is_flat=flat, out=out)
    if what == "timeline":
        chosen = choose_format("a timeline", ("svg",), format, out)
    else:
        chosen = choose_format("a plan", ("mermaid", "svg"), format, out)
    thread = find_thread(name, settings, url)
    return drawing.draw_run(thread, settings, what=what or "plan", format=chosen, out=out, url=url)
