"""The options of `supervise eval`. Light: help needs them, too."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from graph.commands.options import JsonOption, QuietOption, TeamArgument, VerboseOption
from graph.commands.settings_loading import load_settings
from graph.display.streams import announce_start


def evaluate(
    team: TeamArgument,
    threshold: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", min=0, max=100, help="A lower score ends with exit code 3."
        ),
    ] = 80.0,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OTHER",
            help="standard=MODEL, a strategy such as single, or another team. May be repeated.",
        ),
    ] = None,
    worker: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Compare with the team in which this file replaces the worker of its name, or is"
            " added. May be repeated.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the first N rows.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ROW", help="Only the row with this id. May be repeated."),
    ] = None,
    judge: Annotated[
        Literal["fast", "standard", "strong"],
        typer.Option(metavar="TIER", help="The tier that judges `judged` rows."),
    ] = "strong",
    replayed: Annotated[
        bool,
        typer.Option("--replayed", help="Only rows with a record, from it: no model, no network."),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Run a team's exam, evals.jsonl, and grade it."""
    if not quiet:
        announce_start(f"starting the exam of team {team}")
    from extensions.evals.command import ExamCommand, choose_baseline

    settings = load_settings(may_ask=True, announces=not quiet)
    command = ExamCommand(
        team=team,
        other=choose_baseline(against or (), worker or (), team, settings, replayed),
        settings=settings,
        threshold=threshold,
        as_json=as_json,
        quiet=quiet,
    )
    return command.run(limit=limit, only=only or (), judge_tier=judge, replayed=replayed)
