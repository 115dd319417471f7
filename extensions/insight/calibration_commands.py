"""The command on how often estimates held. Light: help needs it, too."""

from typing import Annotated

import typer

from graph.commands.options import JsonOption
from graph.commands.settings_loading import load_settings


def calibration(
    team: Annotated[
        str | None, typer.Option("--team", "-t", metavar="NAME", help="Of this team alone.")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Show how often the intervals of estimates held: of ten runs nine should be inside."""
    from extensions.insight.calibration import show_calibration

    return show_calibration(team, load_settings(), as_json=as_json)
