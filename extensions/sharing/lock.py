"""What the user has agreed to: `teams.lock.json`, beside the folder of added teams.

The file is signed with the user's own key, so that a program which writes a team and its entry
changes nothing. A team whose files are not those of its entry is not loaded.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, Field

from extensions.sharing.archive import MAX_FILE_BYTES, TeamRefused
from extensions.sharing.file_names import is_ignored, show_name
from extensions.sharing.sources import hash_files, read_regular_file, walk_files
from graph.user_state import get_teams_folder, is_signed, sign_text
from nodes.errors import OutputFailed, TeamInvalid
from nodes.limits.nesting import parse_json
from nodes.security.private_files import make_private_folder, replace_private_file

LOCK_FILE: Final = "teams.lock.json"
MAX_LOCK_BYTES, WAIT_S = 20_000_000, 60.0


class TeamChanged(TeamInvalid):
    """An added team is not, or no longer, what the user has agreed to."""


class Consent(BaseModel):
    """What the user has agreed to of one team."""

    source: str
    version: str
    licence: str
    sha256: str
    files: dict[str, str]
    asks: dict[str, tuple[str, ...]]
    date: str


class Lock(BaseModel):
    """All consents, by the names of the teams."""

    version: Literal[1] = 1
    teams: dict[str, Consent] = Field(default_factory=dict)
    signature: str = ""

    @property
    def text(self) -> str:
        """Return what is signed."""
        return json.dumps(self.model_dump(mode="json", exclude={"signature"}), sort_keys=True)


def read_lock() -> Lock:
    """Return what the user has agreed to; TeamChanged is raised if another one wrote the file."""
    path = get_teams_folder().parent / LOCK_FILE
    try:
        lock = Lock.model_validate(parse_json(read_regular_file(path, MAX_LOCK_BYTES)))
        cause = "" if is_signed(lock.text, lock.signature) else "this user did not write it"
    except FileNotFoundError:
        return Lock()
    except (OSError, ValueError, TeamRefused) as error:
        cause = f"it cannot be read: {type(error).__name__}"
    if cause:
        remedy = "remove it, and add the teams again: supervise add-team FOLDER"
        what = f"no added team is used, since {path} is not as it was"
        raise TeamChanged(what, cause=cause, next=remedy)
    return lock


def write_lock(lock: Lock) -> None:
    """Write what the user has agreed to, signed."""
    signed = lock.model_copy(update={"signature": sign_text(lock.text)})
    text = f"{signed.model_dump_json(indent=2)}\n"
    replace_private_file(get_teams_folder().parent / LOCK_FILE, text)


@contextmanager
def hold_lock() -> Iterator[Path]:
    """Yield the folder of added teams, which no other process changes meanwhile."""
    folder = get_teams_folder()
    try:
        make_private_folder(folder)
        with FileLock(folder.parent / ".teams.lock", WAIT_S, mode=0o600, is_singleton=False):
            yield folder
    except (Timeout, OSError) as error:
        cause = getattr(error, "strerror", None) or "another process changes it"
        remedy = "free disk space, make the folder writable, or set XDG_CONFIG_HOME"
        what, kept = f"cannot write to {folder}", "the teams are as they were"
        raise OutputFailed(what, cause=cause, kept=kept, next=remedy) from None


def require_consent(folder: Path) -> None:
    """Raise TeamChanged for a folder of an added team that is not as the user has agreed."""
    teams, place = get_teams_folder().resolve(), folder.resolve()
    if not place.is_relative_to(teams) or place == teams:
        return
    team = teams / place.relative_to(teams).parts[0]
    consent = read_lock().teams.get(team.name)
    if cause := find_difference(team, consent) if consent else "you have not agreed to it":
        remedy = f"supervise add-team {team} shows what is different, and asks"
        what = f"the team {show_name(team.name)} is not as you agreed to it"
        raise TeamChanged(what, cause=cause, next=remedy)


def find_difference(folder: Path, consent: Consent) -> str:
    """Return which file of an added team is not as agreed; empty if all are."""
    found = dict[str, str]()
    try:
        for path, name in walk_files(folder):
            if not is_ignored(PurePosixPath(name)):
                if name not in consent.files:
                    return f"{show_name(name)} is new"
                found[name] = sha256(read_regular_file(path, MAX_FILE_BYTES)).hexdigest()
    except TeamRefused as error:
        return error.what
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if hash_files(found) == consent.sha256:
        return ""
    wrong = min(dict(found.items() ^ consent.files.items()), default=LOCK_FILE)
    return f"{show_name(wrong)} has changed, or is gone"
