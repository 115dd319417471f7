"""What a team's workers on other servers need, offer, and what is doubtful about them."""

import asyncio
import ipaddress
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from extensions.remote.connect import build_remote_worker
from graph.display.text import to_one_line
from graph.extensions import DoctorCheck
from graph.settings import Settings
from graph.teams.team_loader import list_teams, load_team
from nodes.errors import SupervisorError, TeamInvalid
from nodes.schemas.servers import RemoteSpec
from nodes.schemas.team import Team
from nodes.text.variables import list_unset_variables
from nodes.tools.framework.extras import list_missing_packages, write_install_command

PROBE_TIMEOUT_S: Final = 20.0
_SECRET_HEADERS: Final = ("authorization", "cookie", "key", "token", "secret")


def list_remote_workers(team: Team) -> dict[str, RemoteSpec]:
    """Return the workers on other servers by name, those of teams within it by their paths."""
    found = {worker.name: worker.remote for worker in team.workers if worker.remote is not None}
    for worker in team.workers:
        if worker.team is not None:
            inner = list_remote_workers(worker.team)
            found |= {f"{worker.name}/{name}": spec for name, spec in inner.items()}
    return found


def list_remote_warnings(team: Team) -> Iterator[str]:
    """Yield a warning for each credential that is written out, or sent without encryption."""
    for worker, spec in list_remote_workers(team).items():
        for name, text in spec.headers.items():
            if "${" not in text and any(word in name.lower() for word in _SECRET_HEADERS):
                yield (
                    f"worker {worker}: the header {name} holds its value; "
                    'write it as "${VARIABLE}"'
                )
        if spec.headers and spec.url.startswith("http://") and not _is_local(spec.url):
            said = f"its headers are sent to {spec.host} without encryption; use https"
            yield f"worker {worker}: {said}"


def describe_offers(team: Team, settings: Settings) -> Iterator[str]:
    """Call the servers of a team's remote workers, and yield a line on what each offers.

    Raises:
        SupervisorError: the first that cannot be used, after all lines.
    """
    found = probe_remote_workers(team, settings.build_tool_settings().variables)
    for name, offer in found.items():
        yield f"remote worker {name}: {to_one_line(str(offer), 300)}"
    for offer in found.values():
        if isinstance(offer, SupervisorError):
            raise offer


def probe_remote_workers(
    team: Team, variables: Mapping[str, str]
) -> dict[str, str | SupervisorError]:
    """Call each server, and return by worker what it offers, or why it cannot be used."""

    async def probe(name: str, spec: RemoteSpec) -> str | SupervisorError:
        try:
            return await build_remote_worker(name, spec, variables.get).probe(PROBE_TIMEOUT_S)
        except SupervisorError as error:
            return error

    async def probe_all() -> list[str | SupervisorError]:
        return await asyncio.gather(*(probe(name, spec) for name, spec in specs.items()))

    specs = list_remote_workers(team)
    return dict(zip(specs, asyncio.run(probe_all()), strict=True))


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        address = ipaddress.ip_address(host)
        return address.is_loopback or address.is_private
    return host == "localhost"


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
        texts = [text for spec in specs.values() for text in spec.headers.values()]
        extras = {"a2a" if spec.protocol == "a2a" else "remote" for spec in specs.values()}
        missing = [extra for extra in sorted(extras) if list_missing_packages(extra)]
        if missing:
            yield DoctorCheck("broken", name, places, write_install_command(missing[0]))
        elif unset := list_unset_variables(texts, settings.build_tool_settings().variables):
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
