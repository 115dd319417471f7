"""A run's events, written to a file as they happen: one JSON object a line.

Lines outlive the process that wrote them, so a resumed run has one whole trace. A line that a kill
cut short is passed over.
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from nodes.errors import StoreError
from nodes.errors.redaction import redact_text

Event = Mapping[str, Any]
EventListener = Callable[[Event], None]

_logger = logging.getLogger(__name__)


class EventLog(BaseCallbackHandler):
    """Keeps every event of a run, and tells a listener. A context manager.

    Without a path, or before it is entered, it only tells.
    """

    run_inline = True
    """An event is on file before the step that told it goes on."""

    def __init__(self, path: Path | None, listener: EventListener | None = None) -> None:
        self.path, self.listener = path, listener
        self._file: TextIO | None = None

    def __enter__(self) -> "EventLog":
        if self.path:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                end_last_line(self.path)
                self._file = self.path.open("a", encoding="utf-8")
            except OSError as error:
                raise _build_write_error(self.path, error) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            with suppress(OSError):  # closing writes what a failed write has left
                self._file.close()

    def write_required(self, entry: Event) -> None:
        """Add the line that a resume begins from; a run whose line is not on file must not begin.

        Raises:
            StoreError: it cannot be written.
        """
        try:
            self._append_line(entry)
        except OSError as error:
            assert self.path is not None, "a line was written"
            raise _build_write_error(self.path, error) from error

    def write_entry(self, entry: Event) -> None:
        """Add a line; what has no `kind` is a note of the runner, not an event.

        What cannot be written any more ends no run: a listener is told once, and the trace ends.
        """
        try:
            self._append_line(entry)
        except OSError as error:
            self.__exit__()
            self._file = None
            _logger.warning(
                "trace %s cannot be written, the run continues without it: %s",
                self.path,
                redact_text(str(error)),
            )
            if self.listener:
                self.listener(_build_truncation_event(entry, error))

    def record_event(self, event: Event) -> None:
        """Keep an event, then pass it on."""
        self.write_entry(event)
        if self.listener:
            self.listener(event)

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **_: Any) -> None:
        """Keep an event of ours; others dispatch custom events too."""
        if isinstance(data, dict) and data.get("kind") == name:
            self.record_event(data)

    def _append_line(self, entry: Event) -> None:
        if self._file:
            self._file.write(redact_text(json.dumps(entry, ensure_ascii=True, default=str)) + "\n")
            self._file.flush()


def _build_write_error(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"the trace {path} cannot be written",
        cause=error.strerror or str(error),
        kept="what was saved before",
        next="make room, mend the permissions of its folder, or set SUPERVISE_DATABASE_URL",
    )


def _build_truncation_event(entry: Event, error: OSError) -> Event:
    said = f"the trace ends here, and the run goes on: {error.strerror or error}"
    event = {"kind": "error", "task": "", "worker": "", "code": "TRACE_UNWRITABLE"}
    return {"t": entry.get("t", 0.0), **event, "state": "cut", "message": said}


def read_log_entries(path: Path) -> Iterator[dict[str, Any]]:
    """Return the lines of a journal in order.

    Raises:
        FileNotFoundError: there is no journal.
    """
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:  # a line that a kill or a full disk cut short
                continue
            if isinstance(entry, dict):
                yield entry


def read_last_time(path: Path) -> float:
    """Give the time of a journal's last event, where a resumed run's clock goes on; 0 at first."""
    if not path.exists():
        return 0.0
    return max((float(entry["t"]) for entry in read_log_entries(path) if "t" in entry), default=0.0)


def end_last_line(path: Path) -> None:
    """End a line that a kill cut short, so that the next one begins on its own."""
    if path.exists() and path.stat().st_size:
        with path.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
