"""A LangGraph store that is opened when it is first written, since it is slow to load."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Final, Self

from langgraph.store.base import BaseStore, Op, Result, SearchItem, SearchOp

from nodes.errors import StoreError

CLOSE_TIMEOUT_S: Final = 5.0
"""Time for the operations that run when the store is closed; later ones are refused."""
OpenStore = Callable[[], AbstractAsyncContextManager[BaseStore]]
Search = Callable[[SearchOp], Awaitable[list[SearchItem] | None]]
"""Searches without the library; None for a search that needs it."""
RunOperation = Callable[[Callable[[], Awaitable[list[Result]]]], Awaitable[list[Result]]]


async def _run_once(work: Callable[[], Awaitable[list[Result]]]) -> list[Result]:
    return await work()


class LazyStore(BaseStore):
    """A store that is opened by its first operation. An async context manager.

    Args:
        steady: runs an operation, perhaps with retries: every one may be repeated safely.
        search: answers searches as long as the store is not open.
    """

    supports_ttl = True

    def __init__(
        self, opens: OpenStore, *, steady: RunOperation = _run_once, search: Search | None = None
    ) -> None:
        self._open_store, self._run_operation, self._search = opens, steady, search
        self._open_lock = asyncio.Lock()
        self._loop = asyncio.get_running_loop()
        self._stack = AsyncExitStack()
        self._store: BaseStore | None = None
        self._is_closed = False
        self._running = set[asyncio.Future[list[Result]]]()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self._is_closed = True
        if self._running:  # an operation would fail if its connection were closed
            _, late = await asyncio.wait(self._running, timeout=CLOSE_TIMEOUT_S)
            for each in late:
                each.cancel()
        async with self._open_lock:
            self._store = None
            await self._stack.aclose()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations from another thread than the loop's."""
        return asyncio.run_coroutine_threadsafe(self.abatch(ops), self._loop).result()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations; the first opens the store.

        Raises:
            StoreError: the store is closed.
        """
        if self._is_closed:
            raise StoreError("the store is closed and cannot save")
        asked = list(ops)

        async def work() -> list[Result]:
            found = await self._search_unopened(asked)
            return await (await self._get_store()).abatch(asked) if found is None else found

        running = asyncio.ensure_future(self._run_operation(work))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return await running

    async def _search_unopened(self, ops: list[Op]) -> list[Result] | None:
        """Return the results of searches; None if the store is open, or needed for them."""
        if self._search is None or self._store is not None:
            return None
        results = list[Result]()
        for op in ops:
            found = await self._search(op) if isinstance(op, SearchOp) else None
            if found is None:
                return None
            results.append(found)
        return results

    async def _get_store(self) -> BaseStore:
        async with self._open_lock:
            if self._store is None:
                self._store = await self._stack.enter_async_context(self._open_store())
            return self._store
