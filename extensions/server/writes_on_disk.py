"""Keeps on disk what the development server would keep in memory alone after a run was deleted."""

import sys
from typing import Any, Final

from langgraph.checkpoint.memory import PersistentDict

NAME: Final = "writes"
"""Of a saver's dict, with the questions of runs and their traces."""


def keep_server_writes() -> None:
    """Fix the development server's saver, if this process is that server's."""
    if loaded := sys.modules.get("langgraph_runtime_inmem.checkpoint"):
        keep_writes(loaded.InMemorySaver)


def keep_writes(saver_type: Any) -> None:
    """Let savers of a type fill their dict that is on disk with one that is put in its place.

    When a thread is deleted, the server puts a dict there that it does not save when it ends: what
    runs asked from then on, and their traces, would be gone after a restart.
    """
    setattr(saver_type, NAME, property(lambda saver: saver.__dict__[NAME], _put_writes))


def _put_writes(saver: Any, found: dict[Any, Any]) -> None:
    held = saver.__dict__.get(NAME)
    if isinstance(held, PersistentDict) and not isinstance(found, PersistentDict):
        held.clear()
        held.update(found)
    else:
        saver.__dict__[NAME] = found
