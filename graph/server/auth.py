"""The servers' auth hook: who may call, and what of the server is theirs.

Configuration names this file: `"auth": {"path": "./graph/server/auth.py:auth"}`. Without
`SUPERVISE_USERS` everybody may do everything, as on a developer's machine.
"""

import logging
from collections.abc import Mapping

from langgraph_sdk import Auth

from graph.server.authentication import Authenticator
from graph.server.ownership import add_ownership
from graph.server.run_admission import build_admission
from graph.settings import Settings
from nodes.errors import SettingsInvalid

_logger = logging.getLogger(__name__)


def build_auth(settings: Settings) -> Auth:
    """Build the hook that the settings ask for."""
    auth = Auth()
    if settings.users_file is None:
        auth.authenticate(_accept_everybody)
        if settings.server_edition != "inmem":
            _logger.warning(
                "no users: SUPERVISE_USERS is not set, so whoever reaches this server may read "
                "and change all runs"
            )
        return auth
    auth.authenticate(Authenticator(settings.users_file).authenticate)
    add_ownership(auth, build_admission(settings))
    return auth


def refuse_everybody(problem: SettingsInvalid) -> Auth:
    """Build a hook that refuses all requests.

    A server that cannot load a hook continues without one, and would let everybody in.
    """
    auth = Auth()

    async def refuse(headers: Mapping[str | bytes, str | bytes]) -> dict[str, object]:
        raise Auth.exceptions.HTTPException(
            status_code=401, detail="this server's users are not configured; see its log"
        )

    auth.authenticate(refuse)
    _logger.error("%s", problem.format_line())
    return auth


async def _accept_everybody(headers: Mapping[str | bytes, str | bytes]) -> dict[str, object]:
    return {"identity": "anonymous", "display_name": "anonymous", "permissions": []}


def _build_from_environment() -> Auth:
    try:
        return build_auth(Settings())
    except SettingsInvalid as error:
        return refuse_everybody(error)


auth = _build_from_environment()
