"""Retries of PostgreSQL operations, and the error of those that fail permanently."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import psycopg
from psycopg import errors

from graph.stores.errors import log_lost_store
from graph.stores.postgres_url import format_public_address, mask_passwords
from nodes.errors import StoreError
from nodes.errors.redaction import redact_text

Result = TypeVar("Result")

_logger = logging.getLogger(__name__)

RETRY_TIMEOUT_S: Final = 30.0
"""How long an operation of a run is retried while a server restarts, fails over or is cut off."""
START_RETRY_TIMEOUT_S: Final = 6.0
"""The same before a run begins, when nothing is lost by giving up."""
MAX_PAUSE_S: Final = 1.0

_TRANSIENT_MESSAGES: Final = (
    "connection refused",
    "no such file or directory",
    "starting up",
    "shutting down",
    "recovery",
    "closed the connection",
    "terminating connection",
    "too many clients",
    "read-only",
)
"""Parts of error messages of an outage that may end within seconds."""

_ADVICE: Final = {
    "password": "check user and password in SUPERVISE_DATABASE_URL",
    "no pg_hba.conf entry": "add ?sslmode=require to SUPERVISE_DATABASE_URL, or allow this user",
    "ssl": "set sslmode in SUPERVISE_DATABASE_URL to what the server offers",
    "certificate": "set sslrootcert in SUPERVISE_DATABASE_URL",
    "does not exist": "create it, or correct SUPERVISE_DATABASE_URL",
    "permission denied": "allow this user to create tables in its schema",
    "read-only": "name the primary server in SUPERVISE_DATABASE_URL",
    "refused": "start the server, or correct host and port in SUPERVISE_DATABASE_URL",
    "too many clients": "raise max_connections, or run less in parallel",
}


def is_transient(error: BaseException) -> bool:
    """Return whether a failed operation of a run should be retried."""
    passing = (
        psycopg.OperationalError,
        psycopg.InterfaceError,
        errors.ReadOnlySqlTransaction,
        errors.IdleInTransactionSessionTimeout,
    )
    return isinstance(error, passing) and not isinstance(error, errors.InsufficientPrivilege)


def is_brief_outage(error: BaseException) -> bool:
    """Return whether a failed start should be retried for seconds: not after a wrong password."""
    return is_transient(error) and any(part in str(error).lower() for part in _TRANSIENT_MESSAGES)


async def retry_operation(
    work: Callable[[], Awaitable[Result]],
    *,
    url: str,
    patience_s: float = RETRY_TIMEOUT_S,
    worth: Callable[[BaseException], bool] = is_transient,
) -> Result:
    """Run an operation that may be repeated, with retries while the server is unavailable.

    Raises:
        StoreError: it failed permanently, or for longer than `patience_s`.
    """
    last: Exception | None = None
    pause_s = 0.05
    try:
        async with asyncio.timeout(patience_s):
            while True:
                try:
                    return await work()
                except psycopg.Error as error:
                    if not worth(error):
                        raise build_store_error(url, error) from error
                    if last is None:
                        _log_retry(url, error, patience_s)
                    last = error
                await asyncio.sleep(random.uniform(pause_s / 2, pause_s))
                pause_s = min(2 * pause_s, MAX_PAUSE_S)
    except TimeoutError:
        raise log_lost_store(build_store_error(url, last, waited_s=patience_s)) from last


def _log_retry(url: str, error: Exception, patience_s: float) -> None:
    cause = mask_passwords(" ".join(str(error).split()), url)
    _logger.warning(
        "the run database %s does not answer, retrying for up to %g s: %s",
        format_public_address(url),
        patience_s,
        redact_text(cause),
    )


def build_store_error(url: str, error: Exception | None, *, waited_s: float = 0.0) -> StoreError:
    """Build the error of a database that cannot be used, with a fix and without its password."""
    reason = " ".join(str(error or "no answer").split())
    cause = mask_passwords(reason.partition(" Is the server running")[0], url)
    waiting = f" (tried for {waited_s:g} s)" if waited_s else ""
    advice = next((fix for sign, fix in _ADVICE.items() if sign in cause.lower()), "")
    return StoreError(
        f"the run database {format_public_address(url)} cannot be used{waiting}",
        cause=cause.removeprefix("connection failed: "),
        kept="what was saved before",
        next=advice or "check the server; `supervise doctor` shows more",
    )
