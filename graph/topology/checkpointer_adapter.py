"""Adapts a user's checkpointer for our graphs: its allowed types, and async access."""

import copy
import sys
from collections.abc import Iterator
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph.stores.serializer import list_checkpoint_types
from graph.stores.threaded_saver import ThreadedSaver
from nodes.errors import UsageError
from nodes.schemas.team import Team
from state import Context

Saver = BaseCheckpointSaver[Any]


class CheckpointerMissing(UsageError):
    """A run may ask a human, but has no checkpointer to save it until the answer."""


def require_checkpointer(team: Team, context: Context, checkpointer: object) -> None:
    """Refuse a run that may ask a human but has no checkpointer.

    Raises:
        CheckpointerMissing: the run has no checkpointer.
    """
    if checkpointer is not None:
        return
    asking = [
        *(["the context (approve_plan)"] if context.approve_plan else []),
        *(["the context (approve_above)"] if context.approve_above is not None else []),
        *(["the context (ask_human)"] if context.ask_human else []),
        *_list_interrupt_sources(team),
    ]
    if asking:
        raise CheckpointerMissing(
            "asking a human needs a checkpointer and a thread_id, which save the run meanwhile",
            cause=f"required by {', '.join(asking)}",
            kept="nothing was spent",
            next="pass build_supervisor(…, checkpointer=…), use run of supervisor_worker, or, "
            "on a server, run it on a thread",
        )


def adapt_checkpointer(saver: Saver) -> Saver:
    """Return a saver over the same storage that reads our types and works in async code.

    The given saver is not changed. Its serializer gets a list of allowed types: ours, LangGraph's
    and those that it already allows. A serializer of another class is used unchanged.
    """
    kind = type(saver)
    serde, is_sync = _allow_own_types(saver.serde), _is_sync_only(kind)
    if serde is saver.serde and not is_sync:
        return saver
    adapted = copy.copy(saver)
    adapted.serde = serde
    if is_sync:
        adapted.__class__ = type(kind.__name__, (ThreadedSaver, kind), {})
    return adapted


def _list_interrupt_sources(team: Team) -> Iterator[str]:
    if team.approve_plan:
        yield f"the team {team.name} (approve_plan)"
    if team.approve_above is not None:
        yield f"the team {team.name} (approve_above)"
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
    if serde._allowed_msgpack_modules is True:  # the default: every type, with a warning each
        serde = copy.copy(serde)
        serde._allowed_msgpack_modules = None
    return serde.with_msgpack_allowlist(list_checkpoint_types())


def _is_sync_only(kind: type[Saver]) -> bool:
    # LangGraph's SQLite saver defines the method only to raise. While its module is not loaded, no
    # saver can be of that class.
    sqlite = sys.modules.get("langgraph.checkpoint.sqlite")
    refusing = [BaseCheckpointSaver, *([sqlite.SqliteSaver] if sqlite else [])]
    return kind.aget_tuple in [base.aget_tuple for base in refusing]
