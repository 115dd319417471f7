"""The commands `add-team` and `pack-team`. Light: help needs them, too."""

from graph.commands.options import JsonOption, argument, option, switch
from graph.commands.settings_loading import load_settings

_MORE = "With --yes: also to what a new version asks for beyond the last one."
_OUT, _KEYS = "The zip [default: TEAM.team.zip].", "Also files with keys that are made up."
_SOURCE = "A folder, a .zip, a .tar.gz, or an installed package."


def add_team(
    source: str = argument("SOURCE", _SOURCE),
    name: str = option("--name", "NAME", "Use another name.", default=""),
    yes: bool = switch("--yes", "Agree without a question."),
    accept_more: bool = switch("--accept-more", _MORE),
    as_json: JsonOption = False,
) -> int:
    """Show what a team from elsewhere does and asks for, and add it if you agree."""
    from extensions.sharing import adding

    given = {"accepts": yes, "accepts_more": accept_more, "as_json": as_json}
    return adding.add_team(source, load_settings(), name=name, **given)


def pack_team(
    name: str = argument("TEAM", "A team's name or folder."),
    out: str = option("--out", "FILE", _OUT, default=""),
    version: str = option("--version", "V", "Such as 1.2.", default=""),
    licence: str = option("--licence", "L", "Such as MIT.", default=""),
    with_keys: bool = switch("--with-keys", _KEYS),
) -> int:
    """Pack a team for others: its files, their hashes, and the result of its exam."""
    from extensions.sharing import packing

    settings = load_settings()
    return packing.pack_team(name, settings, out, version, licence, keeps_keys=with_keys)
