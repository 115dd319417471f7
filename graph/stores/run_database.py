"""What every run database gives: checkpoints, and a store beside them."""

from dataclasses import dataclass

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore


@dataclass(frozen=True)
class RunDatabase:
    """An open database that runs are kept in."""

    saver: BaseCheckpointSaver[str]
    store: BaseStore


def build_thread_namespace(thread: str) -> tuple[str, str]:
    """Return the store's place for what belongs to one thread, and goes when it is pruned.

    A namespace may hold no dot, a thread's id may.
    """
    return ("threads", thread.encode().hex())
