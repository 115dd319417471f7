"""The file that names a server's users, each with a salted hash of the token.

A token is `NAME.SECRET`. The secret is 256 random bits, so that one round of a hash is enough:
there is no list of likely secrets to try.
"""

import hmac
import json
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from nodes.errors import FileUnreadable, SettingsInvalid, describe_invalid, translate_os_errors
from nodes.limits.patterns import Pattern
from nodes.security.private_files import replace_private_file

MAX_FILE_BYTES: Final = 10_000_000
MAX_TOKEN_CHARS: Final = 200
SECRET_BYTES: Final = 32


class UserRecord(BaseModel):
    """What a server knows of one user; it cannot be turned back into the token."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    salt: str = Field(pattern=r"^[0-9a-f]{32}$")
    hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    """HMAC-SHA256 of the secret, keyed with the salt; in hexadecimal."""
    proxy: bool = False
    """Whether this is a proxy, which names the user of each request in a header."""
    crons: bool = False
    """Whether the user may create runs that repeat on a schedule."""


UNKNOWN_USER: Final = UserRecord(salt="0" * 32, hash="0" * 64)
"""Compared with when a name is unknown, so that an answer takes as long as for a known one."""


class _UsersFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    users: dict[str, UserRecord]

    @field_validator("users")
    @classmethod
    def _check_names(cls, users: dict[str, UserRecord]) -> dict[str, UserRecord]:
        for name in users:
            if problem := find_name_problem(name):
                raise ValueError(f"{name[:100]!r} {problem}")
        return users


def load_users(path: Path) -> Mapping[str, UserRecord]:
    """Return the users that a file names.

    Raises:
        SettingsInvalid: the file cannot be read, or is not a file of users.
    """
    try:
        found = path.stat()
        if found.st_size > MAX_FILE_BYTES:
            raise ValueError(f"it is larger than {MAX_FILE_BYTES:,} bytes")
        if found.st_mode & stat.S_IWOTH:
            raise ValueError("everybody on this machine may write it (chmod o-w)")
        return _UsersFile.model_validate_json(path.read_bytes()).users
    except ValidationError as error:
        problem = describe_invalid(error)
    except OSError as error:
        problem = error.strerror or type(error).__name__
    except ValueError as error:
        problem = str(error)
    raise SettingsInvalid(
        f"SUPERVISE_USERS names {str(path)!r}, which cannot be used",
        cause=problem,
        next="`supervise add-user NAME` writes such a file",
    )


def find_user(users: Mapping[str, UserRecord], token: str) -> str | None:
    """Return the name of the user whose token this is; None if it is no user's."""
    if len(token) > MAX_TOKEN_CHARS:
        return None
    name, _, secret = token.rpartition(".")
    record = users.get(name, UNKNOWN_USER)
    is_right = hmac.compare_digest(_hash_secret(record.salt, secret), record.hash)
    return name if is_right and name in users else None


def add_user(path: Path, name: str, *, is_proxy: bool = False, has_crons: bool = False) -> str:
    """Write a user into the file, which is created if it is missing; return the new token.

    The token of a user who is in the file already is replaced.

    Raises:
        SettingsInvalid: the name cannot be one, or the file is not a file of users.
        FileUnreadable: the file cannot be written.
    """
    if problem := find_name_problem(name):
        raise SettingsInvalid(f"{name[:100]!r} {problem}")
    secret, salt = secrets.token_urlsafe(SECRET_BYTES), secrets.token_hex(16)
    record = UserRecord(salt=salt, hash=_hash_secret(salt, secret), proxy=is_proxy, crons=has_crons)
    what, kept = f"{str(path)!r} cannot be written", "the file as it is"
    with translate_os_errors(FileUnreadable, what, kept=kept), _lock_folder(path.parent):
        known = load_users(path) if path.exists() else {}
        _write_users(path, {**known, name: record})
    return f"{name}.{secret}"


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Let another process that adds a user wait, so that it does not read the file before."""
    folder.stat()  # the lock would make a folder that is missing
    with FileLock(folder / ".users.lock", is_singleton=False):
        yield


def _write_users(path: Path, users: Mapping[str, UserRecord]) -> None:
    content = {name: record.model_dump() for name, record in sorted(users.items())}
    replace_private_file(path, json.dumps({"users": content}, indent=2))


def _hash_secret(salt: str, secret: str) -> str:
    return hmac.new(bytes.fromhex(salt), secret.encode(), "sha256").hexdigest()


NAME: Final = Pattern(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
RESERVED: Final = frozenset({"system", "anonymous", "langgraph-studio-user"})
"""Servers use these names themselves: `system` owns what all users share."""
DOT: Final = "%2E"
"""A dot in an identity; the parts of a store's namespace cannot hold one."""


def find_name_problem(name: str) -> str:
    """Return why a text cannot be a user's name; empty if it can."""
    if not NAME.fullmatch(name):
        return "is not a name: use letters, digits and . _ @ + - only, at most 100 of them"
    if name.lower() in RESERVED:
        return "is a name that servers use themselves"
    return ""


def encode_identity(name: str) -> str:
    """Return a user's identity, which is unique for the name and holds no dot."""
    return name.replace(".", DOT)
