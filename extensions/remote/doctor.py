"""The check of `supervise doctor` for workers on other servers; no work is started there."""

from collections.abc import Iterator
from pathlib import Path

from extensions.remote.team_check import (
    list_remote_workers,
    list_unset_variables,
    probe_remote_workers,
)
from graph.extensions import DoctorCheck
from graph.settings import Settings
from graph.teams.team_loader import list_teams, load_team
from nodes.errors import SupervisorError, TeamInvalid
from nodes.schemas.team import Team
from nodes.tools.framework.extras import list_missing_packages, write_install_command


def check_remote_workers(settings: Settings) -> Iterator[DoctorCheck]:
    """Check what remote workers need, and call the server of each."""
    for folder in list_teams(settings):
        try:
            team = load_team(folder, settings)
        except TeamInvalid:
            continue  # another check reports it
        specs = list_remote_workers(team)
        if not specs:
            continue
        places = ", ".join(f"{name}: {spec.describe()}" for name, spec in specs.items())
        name = f"remote workers of {folder.name}"
        extras = {"a2a" if spec.protocol == "a2a" else "remote" for spec in specs.values()}
        missing = [extra for extra in sorted(extras) if list_missing_packages(extra)]
        if missing:
            yield DoctorCheck("broken", name, places, write_install_command(missing[0]))
        elif unset := list_unset_variables(team, settings.build_tool_settings().variables):
            text = f"{places}; not set: {', '.join(unset)}"
            yield DoctorCheck("note", name, text, f"set {', '.join(unset)}")
        else:
            yield from _call_servers(folder, team, settings)


def _call_servers(folder: Path, team: Team, settings: Settings) -> Iterator[DoctorCheck]:
    found = probe_remote_workers(team, settings.build_tool_settings().variables)
    for worker, offer in found.items():
        name = f"remote worker {folder.name}/{worker}"
        if isinstance(offer, SupervisorError):
            fix = offer.next or f"start it, or correct its address in {folder}"
            yield DoctorCheck("broken", name, offer.describe(), fix)
        else:
            yield DoctorCheck("ok", name, offer)
