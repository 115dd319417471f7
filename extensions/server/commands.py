"""The commands `supervise ui` and `supervise add-user`. Light: help needs them, too."""

from pathlib import Path

import typer

from graph.commands.options import TeamsArgument, argument, option, switch
from graph.commands.settings_loading import load_settings
from graph.display.streams import print_to_stdout
from nodes.errors import UsageError


def open_ui(
    team: TeamsArgument = None,
    url: str | None = option("--url", "URL", "Of a server that is started already."),
    port: int = option(
        "--port", "N", "Another one if it is taken.", default=2024, min=1, max=65535
    ),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Whether to open the page."),
) -> int:
    """Start the development server, and open its live page: start runs, watch, compare."""
    from extensions.server import ui

    settings = load_settings(may_ask=True, announces=True)
    if url is not None:
        return ui.open_page(url, opens_browser=browser)
    return ui.serve_and_open(team or (), port, settings, opens_browser=browser)


def add_user(
    name: str = argument("NAME", "The user's name."),
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
