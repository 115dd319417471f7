"""The settings of a command. Light: help needs it, too."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import typer

if TYPE_CHECKING:
    from graph.settings import Settings


OPENAI_HOST: Final = "api.openai.com"


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
    from graph.setting_names import describe_unknown_name
    from graph.settings import Settings

    settings = Settings()
    if may_ask and settings.sources.folder_file:
        from graph.commands.trust import ask_to_trust

        if ask_to_trust(settings.sources):
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
