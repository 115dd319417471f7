"""The trace of a thread beside its checkpoints, where every instance of a server can read it.

It is in a checkpoint namespace of its own: whoever may read the thread may read it, and it is
deleted with the thread. Each start of a run on an instance is a segment, one checkpoint without
channels, and each batch of lines is a write of that checkpoint, so that nothing is ever rewritten.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, empty_checkpoint

from graph.stores.side_records import list_records, save_record
from nodes.limits.nesting import parse_json

NAMESPACE: Final = "supervise-trace"
CHANNEL: Final = "__trace"
"""No channel of a graph."""
_SEGMENT_BITS: Final = 96
"""Of an id, below the segment's number; they are random."""


@dataclass(frozen=True)
class Segment:
    """A stretch of a thread's trace that one instance has written."""

    config: RunnableConfig
    number: int
    run: str
    """Id of the server's run."""
    batches: tuple[Mapping[str, Any], ...] = ()

    @property
    def last_t(self) -> float:
        """The time of the last event that was saved, in seconds on the run's clock."""
        return max((float(batch["last_t"]) for batch in self.batches), default=0.0)

    @property
    def offset_s(self) -> float:
        """What is added to its times, since the clock of a follow-up begins at zero again."""
        return float(self.batches[0]["offset_s"]) if self.batches else 0.0

    @property
    def lines(self) -> list[str]:
        """The lines of the segment, in order."""
        lines = [line for batch in self.batches for line in batch["lines"]]
        return [_shift_line(line, self.offset_s) for line in lines] if self.offset_s else lines


async def begin_segment(
    saver: BaseCheckpointSaver[Any], thread: str, run: str, number: int
) -> Segment:
    """Save the checkpoint of a new segment, and return the segment."""
    # The ids of checkpoints are compared, and some servers accept only UUIDs. A clock would not do:
    # those of two machines may differ.
    name = UUID(int=(number << _SEGMENT_BITS) | (uuid4().int >> (128 - _SEGMENT_BITS)))
    checkpoint = {**empty_checkpoint(), "id": str(name)}
    config = _build_config(thread)
    saved = await saver.aput(
        config,
        checkpoint,  # type: ignore[arg-type]  # a copy of a TypedDict
        {"source": "update", "step": number, "parents": {}, "run": run},  # type: ignore[typeddict-unknown-key]  # kept beside LangGraph's own keys
        {},
    )
    return Segment(
        {"configurable": {**config["configurable"], **saved["configurable"]}}, number, run
    )


async def save_batch(
    saver: BaseCheckpointSaver[Any],
    segment: Segment,
    number: int,
    lines: Iterable[str],
    *,
    last_t: float,
    offset_s: float,
) -> None:
    """Save lines of a segment; a batch that is saved twice is there once."""
    batch = {"n": number, "run": segment.run, "last_t": last_t, "offset_s": offset_s}
    batch["lines"] = list(lines)
    task = str(UUID(int=number + 1))
    await save_record(saver, segment.config, CHANNEL, batch, task_id=task)


async def load_last_segment(saver: BaseCheckpointSaver[Any], thread: str) -> Segment | None:
    """Return the last segment of a thread's trace; None if there is none."""
    saved = await saver.aget_tuple(_build_config(thread))
    return _read_segment(saved) if saved else None


async def load_trace_lines(saver: BaseCheckpointSaver[Any], thread: str) -> list[str]:
    """Return the lines of a thread's trace, in order; empty if none was kept."""
    found = [_read_segment(saved) async for saved in saver.alist(_build_config(thread))]
    found.sort(key=lambda segment: str(segment.config["configurable"]["checkpoint_id"]))
    return [line for segment in found for line in segment.lines]


def _build_config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": NAMESPACE}}


def _read_segment(saved: CheckpointTuple) -> Segment:
    batches = sorted(list_records(saved, CHANNEL), key=lambda batch: int(batch["n"]))
    run = batches[0]["run"] if batches else (saved.metadata or {}).get("run", "")
    number = UUID(saved.config["configurable"]["checkpoint_id"]).int >> _SEGMENT_BITS
    return Segment(saved.config, number, str(run), tuple(batches))


def _shift_line(line: str, offset_s: float) -> str:
    entry = parse_json(line)
    _shift_times(entry, ("t",), offset_s)
    _shift_times(entry.get("report"), ("started_s", "ended_s"), offset_s)
    return json.dumps(entry)


def _shift_times(found: Any, names: Iterable[str], offset_s: float) -> None:
    for name in names:
        if isinstance(found, dict) and isinstance(found.get(name), int | float):
            found[name] = round(found[name] + offset_s, 6)
