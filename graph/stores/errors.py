"""How a run database fails, each in one line."""

import logging

from langchain_core.runnables import RunnableConfig

from nodes.errors import StoreError
from nodes.errors.redaction import redact_text

_logger = logging.getLogger(__name__)


class CheckpointUnreadable(StoreError):
    """A checkpoint is there, but its bytes are no longer what was written."""

    code = "CHECKPOINT_UNREADABLE"


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
