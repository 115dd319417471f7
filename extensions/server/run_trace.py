"""Keeps the trace of a run that a server starts: its events, and how it began and ended."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import StateSnapshot

from graph.topology.answers import list_open_questions
from graph.topology.run_start import RESUMING_KEY, get_run_id
from extensions.server.trace_writer import TraceWriter
from nodes.errors import SupervisorError
from nodes.limits.clock import get_elapsed_s
from nodes.limits.run_scope import SCOPE_KEY, get_run_scope

ReadState = Callable[[], Awaitable[StateSnapshot]]


@asynccontextmanager
async def keep_trace(
    config: RunnableConfig,
    saver: BaseCheckpointSaver[Any] | None,
    *,
    team: str,
    is_resumed: bool,
    asked: Sequence[str],
    read_state: ReadState,
) -> AsyncIterator[None]:
    """Keep a run's trace beside its checkpoints, where a server runs it on a thread.

    Args:
        config: of the run, with its scope, which gets the listener.
        asked: gets what the run asks a human.
        read_state: reads the thread's state, with subgraphs, when the run has asked.
    """
    configurable = config["configurable"]
    is_inner = RESUMING_KEY in configurable or "__pregel_task_id" in configurable
    if saver is None or is_inner or not get_run_id(config):
        yield
        return
    writer = TraceWriter(
        saver,
        thread=str(configurable["thread_id"]),
        run=get_run_id(config),
        started_t=round(get_elapsed_s(config), 6),
        is_resumed=is_resumed,
        team=team,
        began=_utc_now(),
    )
    configurable[SCOPE_KEY] = replace(get_run_scope(config), keep_event=writer.add)
    try:
        yield
        if asked and (questions := list_open_questions(await read_state())):
            writer.add({"asked": questions})
    except SupervisorError as error:
        writer.add(_build_error_event(error, config))
        raise
    except BaseException as error:  # a cancel too: the trace must not show a running run
        writer.add({"stopped": type(error).__name__})
        raise
    finally:
        await writer.close()


def _build_error_event(error: SupervisorError, config: RunnableConfig) -> dict[str, Any]:
    event = {"kind": "error", "task": "", "worker": "", "code": error.code, "message": str(error)}
    return {"t": round(get_elapsed_s(config), 6), **event}


def _utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
