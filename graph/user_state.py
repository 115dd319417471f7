"""The user's own folders: the file of settings, the trusted folders, and the key that signs runs.

Nothing here is read from the current folder, which may be another user's.
"""

import hmac
import os
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from platformdirs import user_config_path, user_state_path

from nodes.errors import OutputFailed, translate_os_errors
from nodes.security.private_files import make_private_folder, replace_private_file

APPLICATION: Final = "supervisor-worker"
_KEY_RECORD: Final = "signing-key"
_PROCESS_KEY: Final = secrets.token_hex(32)
OWN_MARK: Final = "made-by-this-user"
SERVER_FOLDER: Final = Path(".langgraph_api")
"""Where LangGraph's development server keeps the runs of a folder, as pickles."""
MAX_RECORD_BYTES: Final = 10_000
_NOWHERE: Final = Path(os.devnull, APPLICATION)
"""A folder that cannot exist, where the user's home folder is unknown."""

Decision = Literal["trusted", "changed", "declined", "unknown"]
"""What the user has decided about a file; `changed`: about another version of it."""


def get_user_env_file() -> Path:
    """Return the path of the user's own file of settings."""
    return _find_folder(user_config_path) / ".env"


def get_teams_folder() -> Path:
    """Return the folder of the teams that the user has added."""
    return _find_folder(user_config_path) / "teams"


def read_decision(file: Path, digest: str) -> Decision:
    """Return what the user has decided about a file, of which `digest` is the SHA-256."""
    decision, _, decided = _read_record(_name_record(file)).partition(" ")
    if decision not in ("trusted", "declined"):
        return "unknown"
    if decided == digest:
        return "trusted" if decision == "trusted" else "declined"
    return "changed" if decision == "trusted" else "unknown"


def save_decision(file: Path, digest: str, decision: Literal["trusted", "declined"]) -> None:
    """Record a decision about a file.

    Raises:
        OutputFailed: the user's folder cannot be written.
    """
    _write_record(_name_record(file), f"{decision} {digest}")


def remove_decision(file: Path) -> bool:
    """Remove the decision about a file; return whether there was one.

    Raises:
        OutputFailed: the user's folder cannot be written.
    """
    path = _get_folder() / _name_record(file)
    with _refuse_unwritable(path):
        is_there = path.exists()
        path.unlink(missing_ok=True)
    return is_there


def sign_text(text: str) -> str:
    """Return a signature that only this user's processes can make.

    Where the user's folder cannot be written, only this process recognises it.
    """
    key = _read_record(_KEY_RECORD)
    if not key:
        with suppress(OutputFailed):
            _write_record(_KEY_RECORD, secrets.token_hex(32), replaces=False)
        key = _read_record(_KEY_RECORD) or _PROCESS_KEY
    return hmac.new(key.encode(), text.encode(), sha256).hexdigest()


def is_signed(text: str, signature: object) -> bool:
    """Return whether a signature of a text was made by this user's processes."""
    given = signature.encode(errors="replace") if isinstance(signature, str) else b""
    return hmac.compare_digest(sign_text(text).encode(), given)


def is_own_folder(folder: Path) -> bool:
    """Return whether this user's processes have marked a folder at this place as their own."""
    try:
        mark = (folder / OWN_MARK).read_text(encoding="ascii")
    except (OSError, ValueError):
        return False
    return not folder.is_symlink() and is_signed(_describe_place(folder), mark.strip())


def mark_own_folder(folder: Path) -> None:
    """Mark a folder as this user's own."""
    (folder / OWN_MARK).unlink(missing_ok=True)  # a link is not followed
    (folder / OWN_MARK).write_text(f"{sign_text(_describe_place(folder))}\n", encoding="ascii")


def _describe_place(folder: Path) -> str:
    return f"folder {os.fsencode(folder.absolute()).hex()}"


def _get_folder() -> Path:
    return _find_folder(user_state_path)


def _find_folder(find: Callable[..., Path]) -> Path:
    """Return a folder of the user; a relative one would be in the current folder."""
    try:
        folder = find(APPLICATION, appauthor=False)
    except RuntimeError:  # no HOME, and a user without an entry in the system's list
        return _NOWHERE
    return folder if folder.is_absolute() else _NOWHERE


def _name_record(file: Path) -> str:
    return f"trust-{sha256(os.fsencode(file.absolute())).hexdigest()[:32]}"


def _read_record(name: str) -> str:
    try:
        with (_get_folder() / name).open("rb") as file:
            return file.read(MAX_RECORD_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return ""


def _write_record(name: str, text: str, *, replaces: bool = True) -> None:
    """Write a file that only the user can read, as a whole or not at all."""
    path = _get_folder() / name
    # Where it exists another process was first.
    with _refuse_unwritable(path), suppress(FileExistsError):
        make_private_folder(path.parent)
        replace_private_file(path, f"{text}\n", replaces=replaces)


def _refuse_unwritable(path: Path) -> AbstractContextManager[None]:
    return translate_os_errors(
        OutputFailed,
        f"cannot write {path}",
        next="make your home folder writable, set XDG_STATE_HOME to a folder of yours, "
        "or name the file with --env-file",
    )
