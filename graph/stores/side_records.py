"""Records beside a checkpoint: writes of tasks that LangGraph does not know, and so ignores."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple


async def save_record(
    saver: BaseCheckpointSaver[Any], config: RunnableConfig, kind: str, value: Any, *, task_id: str
) -> None:
    """Save a record beside the checkpoint of a config; one of the same id is kept once.

    Args:
        kind: takes the place of a channel; no graph has a channel of this name.
        task_id: a UUID, since some servers accept nothing else.
    """
    await saver.aput_writes(config, [(kind, value)], task_id)


async def load_records(
    saver: BaseCheckpointSaver[Any], config: RunnableConfig, kind: str
) -> list[Any]:
    """Return the records of a kind beside the checkpoint of a config."""
    return list_records(await saver.aget_tuple(config), kind)


def list_records(saved: CheckpointTuple | None, kind: str) -> list[Any]:
    """Return the records of a kind beside a checkpoint that was read."""
    writes = (saved and saved.pending_writes) or ()
    return [value for _, channel, value in writes if channel == kind]
