"""The commands `supervise ui` and `supervise add-user`. Light: help needs them, too."""

from pathlib import Path
from typing import Annotated

import typer

from graph.commands.options import option, switch
from graph.commands.settings_loading import load_settings
from graph.display.streams import print_to_stdout
from nodes.errors import UsageError

TeamArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEAM...", help="Teams' names, or their folders [default: all]."),
]
PageUrlOption = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="Of a server that is started already.")
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


def add_user(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")],
    file: Path | None = option("--file -f", "FILE", "The file [default: SUPERVISE_USERS]."),
    proxy: bool = switch("--proxy", "A proxy, which names the user of each request."),
    crons: bool = switch("--crons", "The user may create runs that repeat."),
) -> int:
    """Write a user of a server into the file of users, and print the new token."""
    from extensions.server import users_file

    path = file or load_settings().users_file
    if path is None:
        raise UsageError(
            "no file of users is named", next="add --file FILE, or set SUPERVISE_USERS"
        )
    print_to_stdout(users_file.add_user(path, name, is_proxy=proxy, has_crons=crons))
    return 0
