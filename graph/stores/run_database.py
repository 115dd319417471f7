"""The interface of every run database: checkpoints and a store."""

from dataclasses import dataclass

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore


@dataclass(frozen=True)
class RunDatabase:
    """An open run database."""

    saver: BaseCheckpointSaver[str]
    store: BaseStore


def build_thread_namespace(thread: str) -> tuple[str, str]:
    """Return the store's namespace of one thread, which is removed when the thread is pruned.

    A namespace must not contain a dot, but a thread's id may.
    """
    return ("threads", thread.encode().hex())


def build_stop_namespace(thread: str) -> tuple[str, ...]:
    """Return where the requests to stop tasks of a thread's run are, each under its task's path."""
    return (*build_thread_namespace(thread), "stop")
