"""Adds a team after the user has agreed to its sheet."""

import os
import shutil
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from extensions.sharing.archive import TeamRefused
from extensions.sharing.file_names import is_ignored, is_team_name, show_name
from extensions.sharing.lock import Consent, find_difference, hold_lock, read_lock, write_lock
from extensions.sharing.sheet import Sheet, build_sheet, write_files
from extensions.sharing.sheet_text import list_difference_lines, list_more, list_sheet_lines
from extensions.sharing.sources import Facts, Offer, open_offer
from graph.commands.output import print_json, print_text
from graph.display.stderr_console import print_to_stderr
from graph.settings import Settings
from graph.teams.team_folder import NAME_RULE
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, list_teams
from graph.user_state import get_teams_folder
from nodes.errors import UsageError

STAGING: Final = ".adding-"  # begins the name of a folder without its place yet


class ConsentMissing(UsageError):
    """The user has not agreed to what a team asks for; nothing was added."""


def add_team(
    source: str,
    settings: Settings,
    *,
    name: str = "",
    accepts: bool = False,
    accepts_more: bool = False,
    as_json: bool = False,
) -> int:
    """Show what a team asks for, and add it if the user agrees; accepting is agreeing unasked."""
    offer = open_offer(source)
    offer = replace(offer, name=name) if name else offer
    place = get_teams_folder() / offer.name
    before = read_lock().teams.get(offer.name) if place.exists() else None
    if offer.folder == place.resolve() and before:  # its owner agrees to his own change
        stated = Facts(version=before.version, licence=before.licence)
        offer = replace(offer, source=before.source, facts=stated)
    _check_name(offer, settings)
    _check_place(offer, place, before)
    sheet = build_sheet(offer, settings)
    is_new = not before or before.sha256 != sheet.sha256 or bool(find_difference(place, before))
    more = list_more(before, sheet) if before else []
    lines = list_difference_lines(before, sheet) if before else list_sheet_lines(sheet)
    for line in () if as_json or not is_new else lines:
        print_text(line)
    facts = {"folder": str(place), "is_update": bool(before), "more": more, "is_added": False}
    try:
        if is_new:
            _ask(source, more, accepts, accepts_more, not as_json)
            _install(offer, sheet, before, place)
        facts["is_added"] = True
    finally:
        if as_json:
            print_json({**sheet.model_dump(mode="json"), **facts})
    if not as_json:
        done = f'added: {place}. next: supervise run "…" --team {offer.name}'
        print_text(done if is_new else f"{offer.name} is added already, and nothing has changed")
    return 0


def _check_name(offer: Offer, settings: Settings) -> None:
    """Raise UsageError if another team is found under the name."""
    if not is_team_name(offer.name):
        raise UsageError(f"{show_name(offer.name)} is no name of a team", cause=NAME_RULE)
    found = next((each for each in list_teams(settings) if each.name == offer.name), None)
    is_named = found and found.parent in (SHIPPED_TEAMS_FOLDER, *settings.team_folders)
    own = (offer.folder, get_teams_folder().resolve() / offer.name)
    if found and (is_named or found.resolve() not in own):
        remedy = "add it under another name: --name NAME"
        what = f"there is a team {offer.name} already"
        raise UsageError(what, cause=f"in {found}", kept="nothing was added", next=remedy)


def _check_place(offer: Offer, place: Path, before: Consent | None) -> None:
    """Raise an error if other files are at a team's place, or beside it in its own folder."""
    if offer.folder != place.resolve():
        if place.exists() and before is None:
            remedy = f"supervise add-team {place}, or remove it"
            raise UsageError(f"{place} is there, and you have not agreed to it", next=remedy)
        return
    for name in offer.left_out:
        if not is_ignored(PurePosixPath(name)):
            what = f"{show_name(name)} may not be in the folder of a team"
            raise TeamRefused(what, cause=offer.left_out[name], next="remove it")


def _ask(source: str, more: list[str], accepts: bool, accepts_more: bool, may_ask: bool) -> None:
    """Raise ConsentMissing unless the user agrees: by options, or at a terminal."""
    if accepts and (accepts_more or not more):
        return
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if may_ask and not accepts and all(each is not None and each.isatty() for each in streams):
        print_to_stderr("\nAgree to this, too? [y/N] " if more else "\nAdd it? [y/N] ")
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
        raise ConsentMissing("nothing was added: you did not agree")
    what = "nothing was added: you have not agreed to what it asks for"
    cause, options = "", "--yes --accept-more" if more else "--yes"
    if accepts:
        what = "nothing was changed: it asks for more than you agreed to"
        cause = "; ".join(more[:3]) + f"; and {len(more) - 3} more" * (len(more) > 3)
    remedy = f"read what it asks for, then supervise add-team {show_name(source)} {options}"
    raise ConsentMissing(what, cause=cause, next=remedy)


def _install(offer: Offer, sheet: Sheet, before: Consent | None, place: Path) -> None:
    """Write a team at its place, and then the consent: killed in between, it is not loaded."""
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    consent = Consent(**sheet.model_dump(include=set(Consent.model_fields)), date=date)
    with hold_lock() as folder:
        lock = read_lock()
        if place.exists() and lock.teams.get(offer.name) != before:
            raise UsageError(f"{offer.name} was changed by another process", next="try it again")
        for left in folder.glob(f"{STAGING}*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        changed = lock.model_copy(update={"teams": {**lock.teams, offer.name: consent}})
        if offer.folder == place.resolve():
            write_lock(changed)
            return
        with tempfile.TemporaryDirectory(prefix=STAGING, dir=folder) as staging:
            new, old = Path(staging, offer.name), Path(staging, "before")
            write_files(offer.files, new)
            if place.exists():
                os.rename(place, old)
            try:
                os.rename(new, place)
                write_lock(changed)
            except BaseException:
                shutil.rmtree(place, ignore_errors=True)
                if old.exists():
                    os.rename(old, place)
                raise
