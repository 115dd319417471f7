"""Closes the background task of a LangGraph store."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from langgraph.store.base.batch import AsyncBatchedBaseStore

BatchedStore = TypeVar("BatchedStore", bound=AsyncBatchedBaseStore)


@asynccontextmanager
async def open_batched_store(store: BatchedStore) -> AsyncIterator[BatchedStore]:
    """Yield a store, and end its batching task afterwards.

    The library cancels that task when the store is garbage-collected; if the loop ends sooner,
    Python warns of a destroyed task.
    """
    try:
        yield store
    finally:
        if store._task is not None:
            store._task.cancel()
            await asyncio.wait([store._task])
