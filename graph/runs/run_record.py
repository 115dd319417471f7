"""The accepted input of a thread, saved before it runs, so that a resume can begin there.

It is in the thread's event log, and, for other machines, in a database that they share. The log
lies in the current folder, which may be another user's: a signature shows whose record it is.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from shlex import quote
from typing import Any, Final

from graph.extensions import get_run_stores
from graph.runs import event_log
from graph.runs.trace import ThreadUnknown, get_log_path
from graph.settings import Settings
from graph.stores.run_database import RunDatabase, build_thread_namespace
from graph.stores.trace_lines import format_trace_line
from graph.teams.team_loader import list_teams
from graph.user_state import is_signed, sign_text
from nodes.errors import UsageError
from nodes.limits.nesting import parse_json
from nodes.schemas.team import Team
from state import Context

RECORD_KEYS: Final = ("source", "input", "context", "signature")
OWN_KEY: Final = "is_own"
"""Of a record that was read: whether this user's program, or the shared database, has it."""
_KEPT_SWITCHES: Final = ("approve_plan", "approve_above", "certificate", "ask_human", "sequential")
_STORE_KEY: Final = "accepted"


class RunUntrusted(UsageError):
    """The record of a run, which names the team, may be another user's."""


def sign_record(thread: str, accepted: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the signature of this user."""
    return {**accepted, "signature": sign_text(_format_record(thread, accepted))}


def require_known_team(thread: str, source: Any, settings: Settings) -> None:
    """Check that a record of unknown origin names a team that the user has installed.

    Raises:
        RunUntrusted: it names another folder, whose code a resume would run.
    """
    known = {str(folder.resolve()) for folder in list_teams(settings)}
    if isinstance(source, str) and source in known:
        return
    place = quote(source) if isinstance(source, str) else "TEAM"  # is copied into a shell
    raise RunUntrusted(
        f"the record of thread {thread} is not signed by you on this machine",
        cause="another user or an earlier version wrote it, and its team's code would run",
        kept="the run",
        next=f"supervise resume {thread} --team {place}, if that team is yours",
    )


def lower_caps(saved: Context, team: Team) -> Context:
    """Return what a resume takes from the settings of a run that may be another user's.

    That is of each cap the lowest of the run's and the team's, and no model.
    """
    names = [each.name for each in fields(Context) if each.name.startswith(("max_", "deadline_"))]
    caps = {n: find_lowest((getattr(saved, n), getattr(team, n, None))) for n in names}
    return Context(**caps, **{name: getattr(saved, name) for name in _KEPT_SWITCHES})


def find_lowest(caps: Iterable[Any]) -> Any:
    """Return the lowest of some caps; None if none is set."""
    return min((cap for cap in caps if cap is not None), default=None)


def _format_record(thread: str, accepted: Mapping[str, Any]) -> str:
    """Return what is signed: a record as the log has it, where secrets are masked."""
    named = {key: accepted.get(key) for key in RECORD_KEYS if key != "signature"}
    written = parse_json(format_trace_line({"thread": thread, **named}))
    return json.dumps(written, sort_keys=True)


def _is_own(thread: str, notes: Mapping[str, Any]) -> bool:
    try:
        return is_signed(_format_record(thread, notes), notes.get("signature"))
    except event_log.FORM_ERRORS:
        return False


async def save_run_record(
    thread: str, accepted: Mapping[str, Any], database: RunDatabase, settings: Settings
) -> None:
    """Save a thread's accepted input for other machines, if they share a database."""
    if settings.postgres_url:
        await database.store.aput(
            build_thread_namespace(thread), _STORE_KEY, dict(accepted), index=False
        )


async def load_run_record(thread: str, settings: Settings) -> dict[str, Any]:
    """Return the last accepted input of a thread.

    Raises:
        ThreadUnknown: nothing was saved under this id.
        StoreError: the run database cannot be used.
    """
    notes: dict[str, Any] = {}
    path = get_log_path(thread, settings)
    if path.exists():
        for entry in event_log.read_log_entries(path):
            notes |= {key: entry[key] for key in RECORD_KEYS if key in entry}
    is_own = _is_own(thread, notes)
    if not is_own and settings.postgres_url:
        place = build_thread_namespace(thread)
        shared = await get_run_stores().read_value(settings.postgres_url, place, _STORE_KEY)
        notes, is_own = shared or notes, bool(shared)
    if not isinstance(notes.get("input"), Mapping) or "source" not in notes:
        raise ThreadUnknown(
            f"no thread {thread!r}", next="`supervise runs` lists the threads there are"
        )
    return {**notes, OWN_KEY: is_own}
