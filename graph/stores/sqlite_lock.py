"""Waits for a SQLite file that another program has locked: a notice, then an error in one line."""

import logging
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

from graph.stores.errors import log_lost_store
from nodes.errors import StoreError
from nodes.errors.redaction import redact_text
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import get_run_scope

TRY_S: Final = 1.0
"""SQLite's own wait for a lock, in one try."""
PAUSE_S: Final = 0.05
"""Between two tries: in some cases SQLite does not wait at all."""
NOTICE_AFTER_S: Final = 3.0
MAX_WAIT_S: Final = 30.0
MIN_WAIT_S: Final = 2.0
"""Also after a run's deadline: other runs lock the file for a moment."""
_LOCK_CODES: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_logger = logging.getLogger(__name__)

Result = TypeVar("Result")


class DatabaseLocked(StoreError):
    """Another program has locked the run database for longer than a run may wait."""

    code = "STORE_LOCKED"

    def __init__(self, path: Path, cause: str) -> None:
        super().__init__(
            f"the run database {path} is locked by another program",
            cause=cause,
            kept="what was saved before",
            next="close what has it open (a database browser, a backup), then repeat",
        )
        self.path = path


def is_locked(error: sqlite3.Error) -> bool:
    """Return whether an operation failed as another connection has locked the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOCK_CODES


def retry_while_locked(
    path: Path,
    work: Callable[[], Result],
    limit_s: float = MAX_WAIT_S,
    clock: Callable[[], float] = time.monotonic,
) -> Result:
    """Return the result of an operation, which waits while the file is locked.

    Raises:
        DatabaseLocked: it was locked for too long.
    """
    began_s, is_announced = clock(), False
    while True:
        try:
            return work()
        except sqlite3.Error as error:
            if not is_locked(error):
                raise
            waited_s = clock() - began_s
            if waited_s >= limit_s:
                lost = DatabaseLocked(path, f"it was waited for {waited_s:.0f} s")
                raise log_lost_store(lost) from error
        if waited_s >= NOTICE_AFTER_S and not is_announced:
            is_announced = True
            notice = f"waiting for the run database {path}, which another program has locked"
            _logger.error("%s", redact_text(notice))
        time.sleep(PAUSE_S)


def choose_wait_s(config: RunnableConfig | None = None) -> float:
    """Return how long a run may wait for its database: not beyond its deadline.

    Args:
        config: of a checkpoint, which lacks the run's scope where a step saves one by itself.
    """
    deadline = get_run_scope(config or {}).deadline
    if deadline is None:
        with suppress(RuntimeError):  # outside a run
            deadline = get_run_scope(get_config()).deadline
    return limit_wait_s(None if deadline is None else deadline.ends_at - now_s())


def limit_wait_s(left_s: float | None) -> float:
    """Return how long to wait for a database with so many seconds left; None: no deadline."""
    return MAX_WAIT_S if left_s is None else min(MAX_WAIT_S, max(MIN_WAIT_S, left_s))
