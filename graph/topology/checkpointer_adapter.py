"""What a checkpointer of the user's needs before a graph of ours may use it."""

import asyncio
import copy
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import cache
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph.stores.serializer import list_checkpoint_types
from nodes.errors import UsageError
from state import Context, Team

Saver = BaseCheckpointSaver[Any]


class CheckpointerMissing(UsageError):
    """A run would ask a human, and nothing keeps it until the answer."""

    code = "CHECKPOINTER_MISSING"


def require_checkpointer(team: Team, context: Context, checkpointer: object) -> None:
    """Refuse a run that may ask a human while no checkpointer keeps it.

    Raises:
        CheckpointerMissing: there is none.
    """
    if checkpointer is not None:
        return
    asking = [
        *(["the context (approve_plan)"] if context.approve_plan else []),
        *_list_interrupt_sources(team),
    ]
    if asking:
        raise CheckpointerMissing(
            "to ask a human takes a checkpointer and a thread_id, which keep the run meanwhile",
            cause=f"asked for by {', '.join(asking)}",
            kept="nothing was spent",
            next="pass build_supervisor(…, checkpointer=…), use graph.run, or, on a server, run it "
            "on a thread",
        )


def adapt_checkpointer(saver: Saver) -> Saver:
    """Return a saver over the same storage that reads our types and can be used from async code.

    The one given stays as it is. Of its serializer only the types that it reads are changed: those
    of ours and of LangGraph, and any that it names itself. A serializer of another kind is kept.
    """
    kind = type(saver)
    serde, is_sync = _allow_own_types(saver.serde), _is_sync_only(kind)
    if serde is saver.serde and not is_sync:
        return saver
    adapted = copy.copy(saver)
    adapted.serde = serde
    if is_sync:
        adapted.__class__ = type(kind.__name__, (_ThreadedSaver, kind), {})
    return adapted


class _ThreadedSaver(BaseCheckpointSaver[Any]):
    """Runs the methods of a saver that has only synchronous ones in threads."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        def found() -> list[CheckpointTuple]:
            return list(self.list(config, filter=filter, before=before, limit=limit))

        for checkpoint in await asyncio.to_thread(found):
            yield checkpoint

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)


def _list_interrupt_sources(team: Team) -> Iterator[str]:
    if team.approve_plan:
        yield f"the team {team.name} (approve_plan)"
    if "human" in team.ladder:
        yield f"the team {team.name} (human in its ladder)"
    for worker in team.workers:
        if worker.team is not None:
            yield from _list_interrupt_sources(worker.team)


def _allow_own_types(serde: SerializerProtocol) -> SerializerProtocol:
    if isinstance(serde, EncryptedSerializer):
        inner = _allow_own_types(serde.serde)
        return serde if inner is serde.serde else EncryptedSerializer(serde.cipher, inner)
    if not isinstance(serde, JsonPlusSerializer) or serde._custom_unpack_ext_hook:
        return serde
    if serde._allowed_msgpack_modules is True:  # the default: any type, with a warning for each
        serde = copy.copy(serde)
        serde._allowed_msgpack_modules = None
    return serde.with_msgpack_allowlist(_load_checkpoint_types())


@cache
def _load_checkpoint_types() -> tuple[tuple[str, str], ...]:
    return tuple(list_checkpoint_types())


def _is_sync_only(kind: type[Saver]) -> bool:
    # LangGraph's SQLite saver defines the method to refuse it. While its module is not loaded no
    # saver is of that kind.
    sqlite = sys.modules.get("langgraph.checkpoint.sqlite")
    refusing = [BaseCheckpointSaver, *([sqlite.SqliteSaver] if sqlite else [])]
    return kind.aget_tuple in [base.aget_tuple for base in refusing]
