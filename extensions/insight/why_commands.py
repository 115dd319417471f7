"""The commands `why` and `failures`. Light: help needs them, too."""

from typing import Annotated

import typer

from graph.commands.options import JsonOption, UrlOption
from graph.commands.settings_loading import load_settings


def why(
    thread: Annotated[
        str, typer.Argument(metavar="[THREAD]", help="The run's id, its beginning, or `last`.")
    ] = "last",
    task: Annotated[
        str, typer.Argument(metavar="[TASK]", help="One task; in a team inside it outer/inner.")
    ] = "",
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> int:
    """Explain why a run, or a task of it, failed or lacks something, and what helps."""
    from extensions.insight.why import show_why
    from graph.commands.runs import open_runs

    return show_why(thread, task, open_runs(url, load_settings()), as_json=as_json)


def failures(
    since: Annotated[
        str, typer.Option("--since", metavar="AGE", help="Runs of this time: 12h, 7d or 8w.")
    ] = "7d",
    team: Annotated[str | None, typer.Option("--team", metavar="NAME", help="Of a team.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> int:
    """Count why runs failed or lacked something, over teams and workers."""
    from extensions.insight.failures import show_failures
    from graph.commands.runs import open_runs

    return show_failures(since, team, open_runs(url, load_settings()), as_json=as_json)
