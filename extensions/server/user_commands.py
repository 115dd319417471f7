"""The command that writes a user of a server into a file. Light: help needs it, too."""

from pathlib import Path
from typing import Annotated

import typer

from graph.commands.settings_loading import load_settings
from graph.display.streams import print_to_stdout
from nodes.errors import UsageError


def add_user(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")],
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", metavar="FILE", help="The file [default: SUPERVISE_USERS]."),
    ] = None,
    proxy: Annotated[
        bool, typer.Option("--proxy", help="A proxy, which names the user of each request.")
    ] = False,
    crons: Annotated[
        bool, typer.Option("--crons", help="The user may create runs that repeat.")
    ] = False,
) -> int:
    """Write a user of a server into the file of users, and print the new token."""
    from extensions.server.users import users_file

    path = file or load_settings().users_file
    if path is None:
        raise UsageError(
            "no file of users is named", next="add --file FILE, or set SUPERVISE_USERS"
        )
    print_to_stdout(users_file.add_user(path, name, is_proxy=proxy, has_crons=crons))
    return 0
