"""Replays for programs."""

import asyncio
from pathlib import Path
from typing import Any

from extensions.replay.record_file import read_record
from extensions.replay.replayer import Replayed, replay_record
from graph.runs.run_recorder import get_record_path
from graph.settings import Settings
from graph.stores.thread_locks import check_thread_id


def replay(thread: str, *, settings: Settings | None = None, **how: Any) -> Replayed:
    """Run a kept run again on its record: no model, no tool, no network.

    Not to be called where an event loop runs; `areplay` is.

    Args:
        how: as `replay_record` takes it.

    Raises:
        RecordMissing, RecordUnreadable: there is no record, or it cannot be used.
        ReplayMissed: the run asks for something else than the record has.
    """
    path = get_record_path(check_thread_id(thread), settings or Settings())
    return replay_record(read_record(path), **how)


async def areplay(thread: str, *, settings: Settings | None = None, **how: Any) -> Replayed:
    """Run a kept run again, in a thread of its own; as `replay`."""
    return await asyncio.to_thread(lambda: replay(thread, settings=settings, **how))


async def areplay_file(path: Path, **how: Any) -> Replayed:
    """Replay the record in a file; as `areplay`."""
    return await asyncio.to_thread(lambda: replay_record(read_record(path), **how))
