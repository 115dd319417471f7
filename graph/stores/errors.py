"""Errors of the run database, each in one line."""

import logging
from pathlib import Path

from langchain_core.runnables import RunnableConfig

from nodes.errors import StoreError, ThreadBusy
from nodes.errors.redaction import redact_text

_logger = logging.getLogger(__name__)


class CheckpointUnreadable(StoreError):
    """A checkpoint exists, but its bytes are damaged."""


class ThreadTaken(ThreadBusy):
    """Another start of this run, or another run, writes to the thread now."""

    def __init__(self, thread: str, *, is_same_run: bool) -> None:
        owner = "the server that resumed this run" if is_same_run else "another run"
        super().__init__(
            f"thread {thread} was taken by {owner}",
            kept="what was saved before, and what the other saves",
            next="nothing; the other ends the run" if is_same_run else "wait for it, then repeat",
        )
        self.is_same_run = is_same_run


def build_unreadable_error(
    config: RunnableConfig, checkpoint: str, error: Exception
) -> CheckpointUnreadable:
    """Build the error of a checkpoint that cannot be read."""
    thread = config["configurable"]["thread_id"]
    return CheckpointUnreadable(
        f"checkpoint {checkpoint} of thread {thread} cannot be read",
        cause=f"{type(error).__name__}: {str(error)[:200]}",
        kept="the database is untouched",
        next="restore a backup of the database, or repeat the request on another --thread",
    )


def log_lost_store(error: StoreError) -> StoreError:
    """Log that a run database in use was lost, and return the error."""
    _logger.warning("%s", redact_text(error.format_line()))
    return error


def build_unusable_error(path: Path, cause: object) -> StoreError:
    """Build the error of a file that cannot be opened, or that is none of ours."""
    return StoreError(
        f"the run database {path} cannot be used",
        cause=str(cause),
        kept="the file is unchanged",
        next="fix its permissions, move it aside to get a new one, or set SUPERVISE_DATABASE_URL",
    )


def build_failure_error(path: Path, cause: object) -> StoreError:
    """Build the error of an operation that failed on a file that was usable before."""
    return StoreError(f"the run database {path} failed", cause=str(cause))
