"""How a run database fails, each in one line."""

from langchain_core.runnables import RunnableConfig

from nodes.errors import StoreError


class CheckpointUnreadable(StoreError):
    """A checkpoint is there, but its bytes are no longer what was written."""

    code = "CHECKPOINT_UNREADABLE"


def build_unreadable_error(
    config: RunnableConfig, checkpoint: str, error: Exception
) -> CheckpointUnreadable:
    """Name the checkpoint that could not be read."""
    thread = config["configurable"]["thread_id"]
    return CheckpointUnreadable(
        f"checkpoint {checkpoint} of thread {thread} cannot be read",
        cause=f"{type(error).__name__}: {str(error)[:200]}",
        kept="the database is untouched",
        next="put a backup of the database in its place, or ask again on another --thread",
    )
