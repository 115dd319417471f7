"""The options of `supervise eval`. Light: help needs them, too."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graph.commands.options import (
    JsonOption,
    QuietOption,
    TeamArgument,
    VerboseOption,
    option,
    switch,
    take_options,
)
from graph.commands.settings_loading import load_settings
from graph.display.streams import announce_team


@dataclass(frozen=True, kw_only=True)
class ExamOptions:
    """The options of `supervise eval`."""

    team: TeamArgument
    threshold: float = option(
        "--threshold",
        "PERCENT",
        "A lower score ends with exit code 3.",
        default=80.0,
        min=0,
        max=100,
    )
    against: list[str] | None = option(
        "--against",
        "OTHER",
        "standard=MODEL, a strategy such as single, or another team. May be repeated.",
    )
    worker: list[Path] | None = option(
        "--worker",
        "FILE",
        "Compare with the team in which this file replaces the worker of its name, or is added."
        " May be repeated.",
    )
    limit: int | None = option("--limit", "N", "Only the first N rows.", min=1)
    only: list[str] | None = option("--only", "ROW", "Only the row with this id. May be repeated.")
    judge: Literal["fast", "standard", "strong"] = option(
        "--judge", "TIER", "The tier that judges `judged` rows.", default="strong"
    )
    replayed: bool = switch("--replayed", "Only rows with a record, from it: no model, no network.")
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
