"""Reads, while a run is at work, which of its tasks a human has stopped.

A request is an item of LangGraph's store, which every server of the Agent Protocol lets clients
write and all its instances share. A run reads its own once a second, and writes none.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from graph.stores.run_database import build_stop_namespace
from nodes.errors.redaction import redact_text
from nodes.limits.langgraph_keys import RESUMING_KEY, TASK_ID_KEY
from nodes.limits.run_scope import SCOPE_KEY, get_run_scope
from nodes.limits.stop_requests import StopRequests

POLL_INTERVAL_S: Final = 1.0
RETRY_PAUSE_S: Final = 5.0
"""After a read that failed."""
MAX_REQUESTS: Final = 1_000
"""That are read at once."""
MAX_READS: Final = 100
"""Of what is left of earlier runs."""
ANONYMOUS: Final = frozenset(("", "anonymous"))
"""The identities of callers where a server has no users."""

_logger = logging.getLogger(__name__)


@asynccontextmanager
async def watch_stops(
    config: RunnableConfig, store: BaseStore | None, *, is_resumed: bool
) -> AsyncIterator[None]:
    """Stop the tasks of a run that a human asks to stop.

    Args:
        config: of the run, with its scope, which gets the requests.
        is_resumed: the run was begun before: what was asked since then counts. Otherwise what is
            there was meant for an earlier run, and is removed.
    """
    configurable = config["configurable"]
    scope, stops = get_run_scope(config), StopRequests()
    is_inner = RESUMING_KEY in configurable or TASK_ID_KEY in configurable
    is_replayed = scope.recorder is not None and scope.recorder.is_replayed
    if is_inner or "thread_id" not in configurable or (store is None and not is_replayed):
        yield
        return
    configurable[SCOPE_KEY] = replace(scope, stops=stops)
    if scope.recorder:
        scope.recorder.follow_stops(stops)
    if store is None or is_replayed:
        yield
        return
    place = build_run_namespace(configurable)
    if is_resumed:  # before a node runs again that waits for a human
        await _read_requests(stops, store, place)
    watching = (_watch if is_resumed else _remove_and_watch)(stops, store, place)
    watch = asyncio.create_task(watching)
    try:
        yield
    finally:
        watch.cancel()
        await asyncio.wait([watch])


async def has_stop_requests(store: BaseStore, thread: str) -> bool:
    """Return whether a human has asked to stop a task of a thread's run on this machine."""
    return bool(await store.asearch(build_stop_namespace(thread), limit=1))


def build_run_namespace(configurable: dict[str, Any]) -> tuple[str, ...]:
    """Return where the user of a server's run writes requests, or any caller where it has no users.

    A server puts what its clients write below their identity, so no other user reaches it.
    """
    namespace = build_stop_namespace(str(configurable["thread_id"]))
    identity = read_identity(configurable)
    if "aegra_api" in sys.modules:  # it does so without users, too
        return ("users", identity or "anonymous", *namespace)
    return namespace if identity in ANONYMOUS else (identity, *namespace)


def read_identity(configurable: Mapping[str, Any]) -> str:
    """Return who called a server's run; one of `ANONYMOUS` where it has no users."""
    user = configurable.get("langgraph_auth_user")  # a server's own type, or a dict
    found = user.get("identity") if isinstance(user, dict) else getattr(user, "identity", "")
    return str(configurable.get("langgraph_auth_user_id") or found or "")


async def _watch(stops: StopRequests, store: BaseStore, place: tuple[str, ...]) -> None:
    pause_s = POLL_INTERVAL_S
    while True:
        await asyncio.sleep(pause_s)
        is_read = await _read_requests(stops, store, place)
        pause_s = POLL_INTERVAL_S if is_read else RETRY_PAUSE_S


async def _remove_and_watch(stops: StopRequests, store: BaseStore, place: tuple[str, ...]) -> None:
    """Remove what was meant for an earlier run: no task of this one can have been named yet."""
    try:
        for _ in range(MAX_READS):
            items = await store.asearch(place, limit=MAX_REQUESTS)
            for item in items:
                await store.adelete(item.namespace, item.key)
            if len(items) < MAX_REQUESTS:
                break
    except Exception as error:  # any failure of any server's store
        _log_failure(error)
    await _watch(stops, store, place)


async def _read_requests(stops: StopRequests, store: BaseStore, place: tuple[str, ...]) -> bool:
    """Stop the tasks that are asked for; return whether that could be read."""
    try:
        for item in await store.asearch(place, limit=MAX_REQUESTS):
            stops.add(item.key)
    except Exception as error:  # any failure of any server's store
        _log_failure(error)
        return False
    return True


def _log_failure(error: Exception) -> None:
    cause = redact_text(f"{type(error).__name__}: {error}")
    _logger.warning("requests to stop a task cannot be read now: %s", cause)
