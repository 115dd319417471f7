"""Whether a human has stopped a task of the graph that a config belongs to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain_core.runnables import RunnableConfig

from nodes.limits.run_scope import get_run_scope


def is_stopped(config: RunnableConfig, task: str) -> bool:
    """Return whether a human has stopped a task, or all."""
    scope = get_run_scope(config)
    return scope.stops is not None and scope.stops.includes(_build_path(scope.outer_task, task))


@asynccontextmanager
async def enforce_stop(config: RunnableConfig, task: str) -> AsyncIterator[None]:
    """Cancel the body when a human stops the task, where a run can be asked to.

    Raises:
        TaskStopped: it was stopped, perhaps before.
    """
    scope = get_run_scope(config)
    if scope.stops is None:
        yield
        return
    async with scope.stops.enforce(_build_path(scope.outer_task, task)):
        yield


def _build_path(outer_task: str, task: str) -> str:
    return f"{outer_task}/{task}" if outer_task else task
