"""The options of `supervise ui`. Light: help needs them, too."""

from typing import Annotated

import typer

from graph.commands.settings_loading import load_settings

TeamArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEAM...", help="Teams' names, or their folders [default: all]."),
]
PageUrlOption = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="Of a server that is started already."),
]
PortOption = Annotated[
    int, typer.Option("--port", metavar="N", min=1, max=65535, help="Another one if it is taken.")
]
BrowserOption = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Whether to open the page.")
]


def open_ui(
    team: TeamArguments = None,
    url: PageUrlOption = None,
    port: PortOption = 2024,
    browser: BrowserOption = True,
) -> int:
    """Start the development server, and open its live page: start runs, watch, compare."""
    from extensions.server import ui

    settings = load_settings(may_ask=True, announces=True)
    if url is not None:
        return ui.open_page(url, opens_browser=browser)
    return ui.serve_and_open(team or (), port, settings, opens_browser=browser)
