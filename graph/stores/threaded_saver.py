"""The asynchronous methods of a synchronous checkpointer."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

Result = TypeVar("Result")


class ThreadedSaver(BaseCheckpointSaver[str]):
    """Runs the methods of a synchronous saver, its other base class, outside the event loop."""

    async def run_job(
        self, work: Callable[[], Result], config: RunnableConfig | None, *, is_write: bool = False
    ) -> Result:
        """Return what `work` returns, on another thread.

        Args:
            config: names the thread of the checkpoints, if it is about one.
        """
        return await asyncio.to_thread(work)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self.run_job(lambda: self.get_tuple(config), config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        def find() -> list[CheckpointTuple]:
            return list(self.list(config, filter=filter, before=before, limit=limit))

        for item in await self.run_job(find, config):
            yield item

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self.run_job(
            lambda: self.put(config, checkpoint, metadata, new_versions), config, is_write=True
        )

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await self.run_job(
            lambda: self.put_writes(config, writes, task_id, task_path), config, is_write=True
        )

    async def adelete_thread(self, thread_id: str) -> None:
        await self.run_job(lambda: self.delete_thread(thread_id), None, is_write=True)
