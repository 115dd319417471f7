"""Replays for programs."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from extensions.replay.record_file import decode_value, read_record
from extensions.replay.replayer import Replayed, refuse_other_values, replay_record
from extensions.replay.tape import ReplayMissed
from graph.runs.event_log import EventListener
from graph.runs.outcome import Outcome
from graph.runs.trace import get_record_path
from graph.settings import Settings, read_settings
from graph.stores.thread_locks import check_thread_id
from nodes.schemas.team import Team


def replay(thread: str, *, settings: Settings | None = None, **how: Any) -> Replayed:
    """Run a kept run again on its record: no model, no tool, no network.

    Not to be called where an event loop runs; `areplay` is.

    Args:
        how: as `replay_record` takes it.

    Raises:
        RecordMissing, RecordUnreadable: there is no record, or it cannot be used.
        ReplayMissed: the run asks for something else than the record has.
    """
    path = get_record_path(check_thread_id(thread), read_settings(settings))
    return replay_record(read_record(path), **how)


async def areplay(thread: str, *, settings: Settings | None = None, **how: Any) -> Replayed:
    """Run a kept run again, in a thread of its own; as `replay`."""
    return await asyncio.to_thread(replay, thread, settings=settings, **how)


class KeptRuns:
    """Replays the records of an exam's rows."""

    def load_materials(self, path: Path) -> Mapping[str, str]:
        """Return the materials that a run began with, or, forked or resumed, had in its state.

        Raises:
            RecordMissing, RecordUnreadable: as `read_record`.
        """
        found: Mapping[str, str] = {}
        with refuse_other_values(path):
            for segment in read_record(path).segments:
                kept = [decode_value(each) for each in segment.begun["checkpoints"]]
                states = [checkpoint["channel_values"] for ns, checkpoint, *_ in kept if not ns]
                for values in (*states, decode_value(segment.begun["input"])):
                    known = values if isinstance(values, dict) else {}
                    found = dict(known.get("materials", found))
        return found

    async def replay(self, path: Path, team: Team, on_event: EventListener) -> Outcome:
        """Return what a run comes to with a team as it is now.

        Raises:
            ReplayMissed: with the call in which the run differs from its record.
            RecordMissing, RecordUnreadable: as `read_record`.
        """
        try:
            record = await asyncio.to_thread(read_record, path)
            how: Any = {"team": team, "on_event": on_event}
            return (await asyncio.to_thread(replay_record, record, **how)).outcome
        except ReplayMissed as missed:
            raise ReplayMissed(missed.cause or missed.what) from None
