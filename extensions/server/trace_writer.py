"""The trace of a thread beside its checkpoints, where every instance of a server can read it.

It is in a checkpoint namespace of its own: whoever may read the thread may read it, and it is
deleted with the thread. Each start of a run on an instance is a segment, one checkpoint without
channels, and each batch of lines is a write of that checkpoint, so that nothing is ever rewritten.
"""

import asyncio
import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID, uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, empty_checkpoint

from graph.stores.side_records import list_records, save_record
from graph.stores.trace_lines import format_trace_line, make_event
from nodes.errors.redaction import redact_text
from nodes.limits.nesting import parse_json
from nodes.text.counts import format_count

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


Entry = Mapping[str, Any]
BATCH_PAUSE_S: Final = 0.3
"""Between writes: what a kill may lose."""
RETRY_PAUSE_S: Final = 2.0
"""After a write that failed."""
CLOSE_TIMEOUT_S: Final = 5.0
"""For the last batch; the answer waits for it."""
MAX_TEXT_CHARS: Final = 20_000
"""Of one text in an event."""
MAX_LINE_CHARS: Final = 400_000
MAX_WAITING_CHARS: Final = 4_000_000
"""Of lines that a database did not take yet."""
MAX_SEGMENT_CHARS: Final = 20_000_000

_logger = logging.getLogger(__name__)


@dataclass
class TraceWriter:
    """Keeps the entries of one run on this instance. A failed write never fails the run."""

    saver: BaseCheckpointSaver[Any]
    thread: str
    run: str
    """Id of the server's run."""
    started_t: float
    """The run's clock when it began here, in seconds."""
    is_resumed: bool
    team: str
    began: str
    """The time of day, in ISO form."""
    _waiting: list[tuple[str, float]] = field(default_factory=list)
    _waiting_chars: int = 0
    _kept_chars: int = 0
    _lost: int = 0
    _batch: int = 0
    _offset_s: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _segment: Segment | None = None
    _task: "asyncio.Task[None] | None" = None

    def add(self, entry: Entry) -> None:
        """Keep an entry; it is written soon, with others."""
        line = format_trace_line(_cut_texts(entry))
        if len(line) > MAX_LINE_CHARS:
            line = format_trace_line(_name_event(entry))
        is_full = self._kept_chars + len(line) > MAX_SEGMENT_CHARS
        if is_full or self._waiting_chars + len(line) > MAX_WAITING_CHARS:
            self._lost += 1
            return
        self._waiting.append((line, float(entry.get("t") or 0.0)))
        self._waiting_chars += len(line)
        self._kept_chars += len(line)
        if self._task is None:
            self._task = asyncio.create_task(self._write_in_batches())

    async def close(self) -> None:
        """Write what is left."""
        if self._task is None:  # nothing was added
            return
        self._task.cancel()
        await asyncio.wait([self._task])
        if self._lost:
            self._waiting.append((format_trace_line(self._describe_loss()), self.started_t))
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._write_waiting()
        except Exception as error:  # any failure of any server's checkpointer
            _log_failure(error)

    async def _write_in_batches(self) -> None:
        pause_s = BATCH_PAUSE_S
        while True:
            await asyncio.sleep(pause_s)
            try:
                # A write that has begun ends before the next one, also when the run does.
                await asyncio.shield(self._write_waiting())
                pause_s = BATCH_PAUSE_S
            except Exception as error:  # any failure of any server's checkpointer
                if pause_s == BATCH_PAUSE_S:
                    _log_failure(error)
                pause_s = RETRY_PAUSE_S

    async def _write_waiting(self) -> None:
        async with self._lock:
            if self._segment is None:
                self._segment = await self._begin()
            taken = self._waiting[:]
            if not taken:
                return
            await save_batch(
                self.saver,
                self._segment,
                self._batch,
                [line for line, _ in taken],
                last_t=max(t for _, t in taken),
                offset_s=self._offset_s,
            )
            self._batch += 1
            del self._waiting[: len(taken)]
            self._waiting_chars -= sum(len(line) for line, _ in taken)

    async def _begin(self) -> Segment:
        """Begin a segment after those that the thread has, with the notes of a run's start."""
        last = await load_last_segment(self.saver, self.thread)
        is_taken_over = last is not None and last.run == self.run
        notes: list[Entry] = [{"resumed": self.began}] if self.is_resumed or is_taken_over else []
        if last is None or not notes:
            notes = [
                {"run": {"thread": self.thread, "team": self.team, "started": self.began}},
                *notes,
            ]
        if last is not None:
            # A clock may begin before the last event: of a follow-up, or on another machine.
            self._offset_s = last.offset_s + max(0.0, last.last_t - self.started_t)
        if last is not None and is_taken_over:
            gap_s = round(max(0.0, self.started_t - last.last_t), 3)
            notes.append(make_event("taken_over", self.started_t, gap_s=gap_s))
        segment = await begin_segment(
            self.saver, self.thread, self.run, last.number + 1 if last else 0
        )
        self._waiting[:0] = [(format_trace_line(note), self.started_t) for note in notes]
        return segment

    def _describe_loss(self) -> Entry:
        last_t = max((t for _, t in self._waiting), default=self.started_t)
        message = f"{format_count(self._lost, 'event')} of the trace could not be kept"
        return make_event("error", last_t, code="TRACE_CUT", state="cut", message=message)


def _cut_texts(value: Any) -> Any:  # JSON of any shape
    """Return an event whose long texts are cut."""
    if isinstance(value, str) and len(value) > MAX_TEXT_CHARS:
        return f"{value[:MAX_TEXT_CHARS]}… and {len(value) - MAX_TEXT_CHARS:,} characters more"
    if isinstance(value, Mapping):
        return {name: _cut_texts(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_cut_texts(each) for each in value]
    return value


def _name_event(entry: Entry) -> Entry:
    """Return what an event that is too large is, without its content."""
    return {
        name: entry[name] for name in ("t", "kind", "task", "worker", "within") if name in entry
    }


def _log_failure(error: Exception) -> None:
    cause = redact_text(f"{type(error).__name__}: {error}")
    _logger.warning("the trace cannot be kept now, the run continues: %s", cause)
