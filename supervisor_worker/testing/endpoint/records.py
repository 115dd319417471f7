"""What the endpoint saw: one record a request, in memory and, on demand, in a file."""

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO


@dataclass
class Call:
    """One request as the endpoint saw it; times are `time.monotonic()`."""

    number: int
    schema: str
    task: str
    tools: tuple[str, ...]
    """Names of the tools on offer, schemas included."""
    model: str
    stream: bool
    body_bytes: int
    began_s: float
    latency_s: float = 0.0
    """Of the scenario: the call should end so much later than it began."""
    ended_s: float | None = None
    fault: str = ""
    client_gone: bool = False
    body: dict[str, Any] = field(default_factory=dict, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the record without the body."""
        return {key: value for key, value in asdict(self).items() if key != "body"}


class Records:
    """Keeps the calls and counts those in flight."""

    def __init__(self, log: Path | None = None) -> None:
        self.requests: list[Call] = []
        """All calls in the order they came."""
        self.in_flight = 0
        self.max_in_flight = 0
        """The most calls that were open at once."""
        self._changed = asyncio.Event()
        self._log: TextIO | None = log.open("a", encoding="utf-8") if log else None

    @contextmanager
    def record_call(self, call: Call) -> Iterator[Call]:
        """Record a call from its begin to its end."""
        self.requests.append(call)
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        self._write_event("began", call)
        try:
            yield call
        finally:
            self.in_flight -= 1
            call.ended_s = time.monotonic()
            self._write_event("ended", call)

    def select_calls(self, schema: str | None = None, task: str | None = None) -> list[Call]:
        """Return the calls for a schema, for a task, or for both."""
        return [
            call
            for call in self.requests
            if schema in (None, call.schema) and task in (None, call.task)
        ]

    async def wait_for_calls(self, began: int, ended: int = 0) -> None:
        """Wait, in the endpoint's own loop, until so many calls have begun and ended."""
        while len(self.requests) < began or self._count_ended() < ended:
            self._changed.clear()
            await self._changed.wait()

    def clear_calls(self) -> None:
        """Forget the calls, none of which is open."""
        self.requests.clear()
        self.max_in_flight = self.in_flight

    def close_log(self) -> None:
        """Close the log."""
        if self._log:
            self._log.close()
            self._log = None

    def _count_ended(self) -> int:
        return sum(call.ended_s is not None for call in self.requests)

    def _write_event(self, event: str, call: Call) -> None:
        self._changed.set()
        if self._log:
            line = {"event": event, "at": time.time(), **call.to_json()}
            self._log.write(json.dumps(line) + "\n")
            self._log.flush()
