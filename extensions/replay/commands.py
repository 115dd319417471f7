"""The commands on records. Light: help needs them, too."""

from pathlib import Path
from typing import Annotated

import typer

from graph.commands.options import JsonOption, QuietOption
from graph.commands.settings_loading import load_settings

RecordOption = Annotated[
    Path | None,
    typer.Option("--record", metavar="FILE", help="Read this record in place of the thread's."),
]
TraceOption = Annotated[
    Path | None, typer.Option("--trace", metavar="FILE", help="Write the trace to this file.")
]
ReplayArgument = Annotated[
    str, typer.Argument(metavar="[THREAD]", help="The run's id, its beginning, or `last`.")
]


def replay(
    thread: ReplayArgument = "last",
    record: RecordOption = None,
    trace: TraceOption = None,
    paced: Annotated[
        bool, typer.Option("--paced", help="As fast as the run was, not as fast as possible.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Run a kept run again on its record: no model, no tool, no network."""
    from extensions.replay.show import show_replay

    settings = load_settings()
    return show_replay(
        thread, settings, path=record, trace=trace, is_paced=paced, as_json=as_json, quiet=quiet
    )
