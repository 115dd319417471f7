"""The settings of a command, and `supervise trust`: which `.env` of a folder counts as a whole.

Light: help needs it, too.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import typer

from graph.commands.options import argument, switch

if TYPE_CHECKING:
    from graph.setting_sources import SettingSources
    from graph.settings import Settings

OPENAI_HOST: Final = "api.openai.com"
RECORD_NOTE: Final = "what is read and written is kept (off: SUPERVISE_RECORD=false)"
"""Is said when a run begins whose record holds what it reads and answers."""


def _choose_env_file(path: Path | None) -> Path | None:
    if path is not None:
        from graph.settings import choose_env_file

        choose_env_file(path)
    return path


EnvFileOption = Annotated[
    Path | None,
    typer.Option(
        "--env-file",
        metavar="FILE",
        callback=_choose_env_file,
        expose_value=False,
        help="A further file of settings, which counts as a whole.",
    ),
]
"""Declared once, for all commands."""


def load_settings(
    *, trace_content: bool = False, may_ask: bool = False, announces: bool = False
) -> "Settings":
    """Read the settings, and export whether LangSmith may trace runs; warn of what is ignored.

    Args:
        may_ask: ask at a terminal whether the current folder's file counts.
        announces: print where the settings come from, and where requests are sent.
    """
    from graph.display.stderr_console import print_to_stderr
    from graph.setting_sources import describe_unknown_name
    from graph.settings import Settings

    settings = Settings()
    if may_ask and ask_to_trust(settings.sources):
        settings = Settings()
    line, is_settled = settings.sources.describe_ignored(), settings.sources.decision == "declined"
    if line and (may_ask or announces or not is_settled):
        print_to_stderr(f"warning: {line}", style="yellow")
    for name, near in settings.find_unknown_variables().items():
        print_to_stderr(describe_unknown_name(name, near), style="yellow")
    settings.export_tracing()
    if announces and (notes := describe_settings(settings)):
        print_to_stderr(notes, style="dim")
    return settings.model_copy(update={"trace_content": True}) if trace_content else settings


def describe_settings(settings: "Settings") -> str:
    """Return what of the settings a user may not expect; empty if there is nothing.

    That is addresses that are not a provider's own, the files that count, and teams that replace
    shipped ones.
    """
    from graph.display.text import to_one_line
    from graph.settings import EMBEDDED
    from graph.variables import TIERS

    sent_to = [
        getattr(settings, f"{tier}_base_url") or settings.openai_base_url
        for tier in TIERS
        if settings.resolve_model(tier) != EMBEDDED
    ]
    sent_to += [settings.langsmith_endpoint] if settings.langsmith_tracing else []
    sent_to += [settings.otel_endpoint] if settings.otel else []
    replaced = []
    if settings.team_folders:
        from graph.teams.team_loader import list_replaced_teams  # slow to load

        replaced = [
            f"team {path.name} of {path.parent}, in place of the shipped one"
            for path in list_replaced_teams(settings)
        ]
    addresses = [host for url in sent_to if url and (host := _get_host(url)) != OPENAI_HOST]
    parts = {"at ": addresses, "settings: ": settings.sources.list_files(), "": replaced}
    return " · ".join(
        to_one_line(lead + ", ".join(dict.fromkeys(found)), 300)
        for lead, found in parts.items()
        if found
    )


def _get_host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or url
    except ValueError:
        return "?"


SHOWN_VALUES: Final = ("SUPERVISE_TEAMS", "SUPERVISE_DOCUMENTS", "SUPERVISE_REPOSITORY")
"""Folders; of other variables only the host of an address is shown."""
ADDRESS_ENDINGS: Final = ("_URL", "_ENDPOINT")
MAX_NAMES: Final = 100
"""More than there are settings."""


def trust(
    folder: Path = argument("[FOLDER]", "Whose .env counts.", default=Path()),
    runs: bool = switch("--runs", "Load its kept runs in supervise ui, with their code."),
    remove: bool = switch("--remove", "Trust it no longer."),
) -> int:
    """Let all of a folder's .env count, until it changes: addresses, keys, teams."""
    from graph.display.streams import print_to_stdout
    from graph.setting_sources import ENV_FILE, describe_error, read_env_file
    from graph.user_state import (
        OWN_MARK,
        SERVER_FOLDER,
        mark_own_folder,
        remove_decision,
        save_decision,
    )
    from nodes.errors import FileUnreadable, UsageError

    path, kept = folder.resolve() / ENV_FILE, folder.resolve() / SERVER_FOLDER
    if remove:
        (kept / OWN_MARK).unlink(missing_ok=True)
        was_trusted = remove_decision(path)
        print_to_stdout(f"{path} is {'no longer' if was_trusted else 'not'} trusted")
        return 0
    try:
        file = read_env_file(path, stays_inside=True)
    except (OSError, ValueError) as error:
        raise FileUnreadable(
            f"cannot use {path}", cause=describe_error(error), next="supervise run --env-file FILE"
        ) from None
    if runs and kept.is_dir() and not kept.is_symlink():
        mark_own_folder(kept)
        print_to_stdout(f"{kept} is loaded by supervise ui, with the code that its runs hold")
    elif file is None or runs:
        missing = SERVER_FOLDER if runs else ENV_FILE
        raise UsageError(f"there is nothing to trust in {folder}", cause=f"it has no {missing}")
    if file is not None and not runs:
        save_decision(path, file.digest, "trusted")
        print_to_stdout(f"{path} counts until it changes. It sets:")
        for line in list_names(file.parse(replaces_variables=False)):
            print_to_stdout(f"  {line}")
    return 0


def ask_to_trust(sources: "SettingSources") -> bool:
    """Ask at the terminal whether the current folder's file counts, and record the answer."""
    from graph.display.stderr_console import print_to_stderr
    from graph.settings import choose_env_file
    from graph.user_state import save_decision
    from nodes.errors import OutputFailed

    file = sources.folder_file
    can_ask = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    if file is None or not sources.ignored or sources.decision == "declined" or not can_ask:
        return False
    print_to_stderr(f"{sources.describe_origin()}. It sets:", style="yellow")
    for line in list_names(sources.folder_variables):
        print_to_stderr(f"  {line}")
    print_to_stderr("Trust it until it changes? [y/N] ")
    reply = sys.stdin.readline()
    is_trusted = reply.strip().lower() in ("y", "yes")
    try:
        if reply:
            save_decision(file.path, file.digest, "trusted" if is_trusted else "declined")
    except OutputFailed as error:
        print_to_stderr(f"warning: {error}; you are asked again next time", style="yellow")
        if is_trusted:
            choose_env_file(file.path)
    return is_trusted


def list_names(variables: Mapping[str, str]) -> list[str]:
    """Return a line for each variable: its name, an address's host, or a folder.

    Settings come first, then other addresses, so that many other names do not hide them.
    """
    from graph.display.text import to_one_line
    from graph.setting_sources import list_variables
    from graph.settings import Settings

    known = list_variables(Settings.model_fields)
    named = {n.upper() if n.upper() in known else n: v for n, v in variables.items() if v.strip()}
    found = [(name, _select_shown(name, value)) for name, value in named.items()]
    found.sort(key=lambda pair: pair[0] not in known and 2 - bool(pair[1]))
    lines = [to_one_line(f"{name}: {shown}" if shown else name, 200) for name, shown in found]
    more = len(lines) - MAX_NAMES
    return lines if more <= 0 else [*lines[:MAX_NAMES], f"and {more} more"]


def _select_shown(name: str, value: str) -> str:
    if name.upper() in SHOWN_VALUES:
        return value
    if "${" in value and name.upper().endswith(ADDRESS_ENDINGS):  # its host is elsewhere
        return value.rpartition("@")[2]
    try:
        return urlsplit(value).netloc.rpartition("@")[2] if "://" in value else ""
    except ValueError:
        return "?"
