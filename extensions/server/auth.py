"""The servers' auth hook: who may call, and what of the server is theirs.

Configuration names this file: `"auth": {"path": "./extensions/server/auth.py:auth"}`. Without
`SUPERVISE_USERS` everybody may do everything, as on a developer's machine.
"""

import logging

from langgraph_sdk import Auth

from extensions.server.authentication import Headers, get_authenticator
from extensions.server.ownership import add_ownership
from extensions.server.run_admission import build_admission
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
    auth.authenticate(get_authenticator(settings.users_file).authenticate)
    add_ownership(auth, *build_admission(settings))
    return auth


def refuse_everybody(problem: str) -> Auth:
    """Build a hook that refuses all requests.

    Aegra continues without a hook that it cannot load, and would let everybody in.
    """
    auth = Auth()

    async def refuse(headers: Headers) -> dict[str, object]:
        raise Auth.exceptions.HTTPException(
            status_code=401, detail="this server's users are not configured; see its log"
        )

    auth.authenticate(refuse)
    _logger.error("%s", problem)
    return auth


async def _accept_everybody(headers: Headers) -> dict[str, object]:
    return {"identity": "anonymous", "display_name": "anonymous", "permissions": []}


def _build_from_environment() -> Auth:
    try:
        return build_auth(Settings())
    except SettingsInvalid as error:
        return refuse_everybody(error.format_line())
    except Exception as error:  # see refuse_everybody
        return refuse_everybody(f"the users cannot be set up: {type(error).__name__}: {error}")


auth = _build_from_environment()
