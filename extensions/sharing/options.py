"""The commands `add-team` and `pack-team`. Light: help needs them, too."""

from pathlib import Path
from typing import Annotated

import typer

from graph.commands.options import JsonOption
from graph.commands.settings_loading import load_settings

Source = Annotated[
    str,
    typer.Argument(metavar="SOURCE", help="A folder, a .zip, a .tar.gz, or an installed package."),
]
Name = Annotated[str, typer.Option("--name", metavar="NAME", help="Add it under another name.")]
Yes = Annotated[bool, typer.Option("--yes", help="Agree to the sheet without a question.")]
AcceptMore = Annotated[
    bool,
    typer.Option(
        "--accept-more", help="With --yes: also to what a new version asks for beyond the last one."
    ),
]
Team = Annotated[str, typer.Argument(metavar="TEAM", help="A team's name or folder.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="The zip to write [default: TEAM.team.zip]."),
]
Version = Annotated[
    str, typer.Option("--version", metavar="VERSION", help="Of the team, such as 1.2.")
]
Licence = Annotated[
    str, typer.Option("--licence", metavar="LICENCE", help="Such as MIT; or add a file LICENSE.")
]
WithKeys = Annotated[
    bool, typer.Option("--with-keys", help="Also files with what may be keys: made-up ones.")
]


def add_team(
    source: Source,
    name: Name = "",
    yes: Yes = False,
    accept_more: AcceptMore = False,
    as_json: JsonOption = False,
) -> int:
    """Show what a team from elsewhere does and asks for, and add it if you agree."""
    from extensions.sharing import adding

    given = {"accepts": yes, "accepts_more": accept_more, "as_json": as_json}
    return adding.add_team(source, load_settings(), name=name, **given)


def pack_team(
    name: Team,
    out: Out = None,
    version: Version = "",
    licence: Licence = "",
    with_keys: WithKeys = False,
    as_json: JsonOption = False,
) -> int:
    """Pack a team for others: its files, their hashes, and the result of its exam."""
    from extensions.sharing import packing

    flags = {"keeps_keys": with_keys, "as_json": as_json}
    return packing.pack_team(name, load_settings(), out, version, licence, **flags)
