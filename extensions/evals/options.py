"""The options of `supervise eval`. Light: help needs them, too."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from graph.commands.options import (
    JsonOption,
    QuietOption,
    TeamArgument,
    VerboseOption,
    take_options,
)
from graph.commands.settings_loading import load_settings
from graph.display.streams import announce_team


@dataclass(frozen=True, kw_only=True)
class ExamOptions:
    """The options of `supervise eval`."""

    team: TeamArgument
    threshold: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", min=0, max=100, help="A lower score ends with exit code 3."
        ),
    ] = 80.0
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OTHER",
            help="standard=MODEL, a strategy such as single, or another team. May be repeated.",
        ),
    ] = None
    worker: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Compare with the team in which this file replaces the worker of its name, or is"
            " added. May be repeated.",
        ),
    ] = None
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the first N rows.")
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ROW", help="Only the row with this id. May be repeated."),
    ] = None
    judge: Annotated[
        Literal["fast", "standard", "strong"],
        typer.Option(metavar="TIER", help="The tier that judges `judged` rows."),
    ] = "strong"
    replayed: Annotated[
        bool,
        typer.Option("--replayed", help="Only rows with a record, from it: no model, no network."),
    ] = False
    as_json: JsonOption = False
    quiet: QuietOption = False
    verbose: VerboseOption = False


@take_options(ExamOptions)
def evaluate(options: ExamOptions) -> int:
    """Run a team's exam, evals.jsonl, and grade it."""
    if not options.quiet:
        announce_team("starting the exam of team", options.team)
    from extensions.evals.command import ExamCommand, choose_baseline

    settings = load_settings(may_ask=True, announces=not options.quiet)
    against, workers = options.against or (), options.worker or ()
    command = ExamCommand(
        team=options.team,
        other=choose_baseline(against, workers, options.team, settings, options.replayed),
        settings=settings,
        threshold=options.threshold,
        as_json=options.as_json,
        quiet=options.quiet,
    )
    return command.run(
        limit=options.limit,
        only=options.only or (),
        judge_tier=options.judge,
        replayed=options.replayed,
    )
