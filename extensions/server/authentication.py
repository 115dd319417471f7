"""Finds out who sends a request: by the token in its header, or by the word of a trusted proxy."""

import asyncio
import logging
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from langgraph_sdk import Auth

from extensions.server.users_file import (
    UserRecord,
    encode_identity,
    find_name_problem,
    find_user,
    load_users,
)
from nodes.errors import SettingsInvalid

USER_HEADER: Final = "x-supervise-user"
"""In which a proxy names the user of a request; read from no other caller."""
CRONS: Final = "crons"
"""The permission to create runs on a schedule."""
CHECK_INTERVAL_S: Final = 2.0
"""How old the answer may be to whether the file has changed."""

Headers = Mapping[str, str] | Mapping[bytes, bytes]
"""As servers pass them: LangGraph's as bytes, Aegra as text."""

_logger = logging.getLogger(__name__)


class Authenticator:
    """Checks tokens against a file of users; a changed file counts within seconds.

    Raises:
        SettingsInvalid: the file cannot be used.
    """

    def __init__(self, path: Path, *, check_interval_s: float = CHECK_INTERVAL_S) -> None:
        self._path, self._check_interval_s = path, check_interval_s
        self._version = _read_version(path)
        self._users = load_users(path)
        self._checked_at = time.monotonic()

    async def authenticate(self, headers: Headers) -> dict[str, object]:
        """Return who the caller is, as servers expect it.

        Raises:
            Auth.exceptions.HTTPException: 401, the request holds no valid token.
        """
        await self._follow_file()
        found = {_decode(name).lower(): _decode(value) for name, value in headers.items()}
        scheme, _, token = found.get("authorization", "").partition(" ")
        name = find_user(self._users, token.strip()) if scheme.lower() == "bearer" else None
        if name is None:
            raise _refuse("a valid token is needed: Authorization: Bearer NAME.SECRET")
        if self._users[name].proxy:
            name = _read_named_user(found.get(USER_HEADER, ""))
        return _describe_user(name, self._users.get(name))

    async def _follow_file(self) -> None:
        """Read the file again if it has changed; a broken file leaves the users as they were."""
        if time.monotonic() - self._checked_at < self._check_interval_s:
            return
        self._checked_at = time.monotonic()
        version = await asyncio.to_thread(_read_version, self._path)
        if version == self._version:
            return
        self._version = version
        try:
            self._users = await asyncio.to_thread(load_users, self._path)
        except SettingsInvalid as error:
            _logger.error("%s", error.format_line())


@cache
def get_authenticator(path: Path) -> Authenticator:
    """Return what knows the users of a file, one for the process.

    Raises:
        SettingsInvalid: the file cannot be used.
    """
    return Authenticator(path)


def _describe_user(name: str, record: UserRecord | None) -> dict[str, object]:
    has_crons = record is not None and record.crons
    return {
        "identity": encode_identity(name),
        "display_name": name,
        "is_authenticated": True,
        "permissions": [CRONS] if has_crons else [],
    }


def _read_named_user(name: str) -> str:
    if find_name_problem(name):
        raise _refuse(f"a proxy must name the user in the header {USER_HEADER}")
    return name


def _refuse(what: str) -> Exception:
    refusal: Exception = Auth.exceptions.HTTPException(status_code=401, detail=what)
    return refusal


def _read_version(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is replaced; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _decode(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
