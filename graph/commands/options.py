"""Options and arguments that several commands share. Light: help needs them, too."""

import math
from typing import Annotated

import typer

from graph.commands.log_output import configure_logging


def _require_finite(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a cap; leave the option out for no cap")
    return value


def _show_warnings(is_asked: bool) -> bool:
    if is_asked:
        configure_logging(is_verbose=True)
    return is_asked


TeamOption = Annotated[
    str, typer.Option("--team", "-t", metavar="TEAM", help="A team's name, or its folder.")
]
TeamArgument = Annotated[str, typer.Argument(metavar="TEAM", help="A team's name, or its folder.")]
ThreadArgument = Annotated[
    str, typer.Argument(metavar="THREAD", help="The thread's id, as `supervise runs` lists it.")
]
DeadlineOption = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        metavar="SECONDS",
        min=0.0,
        callback=_require_finite,
        help="After it, answer with the results so far.",
    ),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="USD",
        min=0.0,
        callback=_require_finite,
        help="In US dollars, by list prices; after it, answer with the results so far.",
    ),
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        metavar="N",
        min=0,
        help="Input and output together; after it, answer with the results so far.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no figures.")]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        callback=_show_warnings,
        help="Show warnings on stderr, such as retries of model calls.",
    ),
]
