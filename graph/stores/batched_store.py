"""Ends what a store of LangGraph's leaves behind."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from langgraph.store.base.batch import AsyncBatchedBaseStore

BatchedStore = TypeVar("BatchedStore", bound=AsyncBatchedBaseStore)


@asynccontextmanager
async def open_batched_store(store: BatchedStore) -> AsyncIterator[BatchedStore]:
    """Lend a store, and wait until its batching is over.

    The library cancels that task when the store is collected; where the loop ends sooner, Python
    warns of a task that was destroyed.
    """
    try:
        yield store
    finally:
        if store._task is not None:
            store._task.cancel()
            await asyncio.wait([store._task])
