"""Writes a run's events to the thread's kept trace, in batches, beside the run."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver

from extensions.server.kept_trace import Segment, begin_segment, load_last_segment, save_batch
from graph.stores.trace_lines import format_trace_line
from nodes.errors.redaction import redact_text
from nodes.text.counts import format_count

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
            notes.append(build_takeover_event(self.started_t, since_t=last.last_t))
        segment = await begin_segment(
            self.saver, self.thread, self.run, last.number + 1 if last else 0
        )
        self._waiting[:0] = [(format_trace_line(note), self.started_t) for note in notes]
        return segment

    def _describe_loss(self) -> Entry:
        message = f"{format_count(self._lost, 'event')} of the trace could not be kept"
        event = {"kind": "error", "task": "", "worker": "", "code": "TRACE_CUT", "state": "cut"}
        return {
            "t": max((t for _, t in self._waiting), default=self.started_t),
            **event,
            "message": message,
        }


def build_takeover_event(at_t: float, *, since_t: float) -> dict[str, Any]:
    """Return the event that another instance continues a run, whose last event was at `since_t`."""
    event = {"kind": "taken_over", "task": "", "worker": ""}
    return {"t": at_t, **event, "gap_s": round(max(0.0, at_t - since_t), 3)}


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
