"""A run's right to write to its thread, where several servers share the database."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from graph.around_run import AroundRun
from graph.stores.errors import ThreadTaken
from graph.topology.run_start import get_run_id
from nodes.errors import StoreError
from nodes.limits.deadline import now_s
from nodes.limits.langgraph_keys import CHECKPOINTER_KEY, TASK_ID_KEY
from nodes.limits.run_scope import SCOPE_KEY, get_run_scope

if TYPE_CHECKING:
    from extensions.postgres.shared_saver import SharedSaver

POLL_INTERVAL_S: Final = 2.0
SETTLING_S: Final = 5.0
"""Time for a server to note the end of a run, after its graph has ended."""

_logger = logging.getLogger(__name__)


class ClaimThread(AroundRun):
    """Takes the thread of a server's run; an earlier start of the run loses the thread.

    A start that has lost its thread to another start of the same run does not end, as the server
    would take its end for that of the run: it waits until the server cancels it.
    """

    @asynccontextmanager
    async def claim(
        self, saver: BaseCheckpointSaver[Any] | None, config: RunnableConfig
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Take the thread; outside a server that shares PostgreSQL nothing is taken."""
        shared = _build_saver(saver, config)
        if shared is None:
            yield {}
            return
        claim = await shared.claim()
        offset_s = claim.at_s - now_s()
        scope = replace(
            get_run_scope(config),
            confirm_writer=shared.confirm,
            clock_offset_s=offset_s,
            first_claimed_at=claim.begun_s - offset_s,
        )
        try:
            yield {CHECKPOINTER_KEY: shared, SCOPE_KEY: scope}
        except Exception as error:  # of the graph; raised again below
            if await _is_taken(shared, error):
                _logger.warning("%s", ThreadTaken(shared.thread, is_same_run=True).format_line())
                await _wait_for_end(shared)
            raise
        finally:
            await shared.release()


def _build_saver(
    saver: BaseCheckpointSaver[Any] | None, config: RunnableConfig
) -> "SharedSaver | None":
    """Return a saver for this start of a run, where a server keeps its runs in PostgreSQL."""
    configurable, run = config.get("configurable", {}), get_run_id(config)
    if "langgraph.checkpoint.postgres.aio" not in sys.modules or saver is None:
        return None
    if not run or TASK_ID_KEY in configurable or "thread_id" not in configurable:
        return None
    from extensions.postgres.shared_saver import build_shared_saver

    return build_shared_saver(saver, str(configurable["thread_id"]), run)


async def _is_taken(shared: "SharedSaver", error: Exception) -> bool:
    if isinstance(error, ThreadTaken):
        return error.is_same_run
    try:
        await shared.confirm()
    except ThreadTaken as taken:
        return taken.is_same_run
    except StoreError:
        pass  # an outage: the error that is being handled is reported
    return False


async def _wait_for_end(shared: "SharedSaver") -> None:
    """Return when the other start has ended; usually the server cancels this one before."""
    while True:
        with suppress(StoreError):  # an outage says nothing of the other start
            if not await shared.is_other_at_work():
                break
        await asyncio.sleep(POLL_INTERVAL_S)
    await asyncio.sleep(SETTLING_S)
