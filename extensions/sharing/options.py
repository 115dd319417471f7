"""The commands `add-team` and `pack-team`. Light: help needs them, too."""

from typing import Annotated

import typer

from graph.commands.options import JsonOption
from graph.commands.settings_loading import load_settings

_MORE = "With --yes: also to what a new version asks for beyond the last one."
_OUT, _KEYS = "The zip [default: TEAM.team.zip].", "Also files with keys that are made up."
_SOURCE = "A folder, a .zip, a .tar.gz, or an installed package."


def add_team(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help=_SOURCE)],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Use another name.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Agree without a question.")] = False,
    accept_more: Annotated[bool, typer.Option("--accept-more", help=_MORE)] = False,
    as_json: JsonOption = False,
) -> int:
    """Show what a team from elsewhere does and asks for, and add it if you agree."""
    from extensions.sharing import adding

    given = {"accepts": yes, "accepts_more": accept_more, "as_json": as_json}
    return adding.add_team(source, load_settings(), name=name, **given)


def pack_team(
    name: Annotated[str, typer.Argument(metavar="TEAM", help="A team's name or folder.")],
    out: Annotated[str, typer.Option("--out", metavar="FILE", help=_OUT)] = "",
    version: Annotated[str, typer.Option("--version", metavar="V", help="Such as 1.2.")] = "",
    licence: Annotated[str, typer.Option("--licence", metavar="L", help="Such as MIT.")] = "",
    with_keys: Annotated[bool, typer.Option("--with-keys", help=_KEYS)] = False,
) -> int:
    """Pack a team for others: its files, their hashes, and the result of its exam."""
    from extensions.sharing import packing

    settings = load_settings()
    return packing.pack_team(name, settings, out, version, licence, keeps_keys=with_keys)
