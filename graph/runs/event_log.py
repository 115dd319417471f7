"""A run's events, written to a file as they happen: one JSON object a line.

Lines outlive the process that wrote them, so a resumed run has one complete trace. A line that a
kill cut short is skipped.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TextIO

from graph.stores.trace_lines import format_trace_line, make_event
from nodes.errors import StoreError
from nodes.errors.redaction import redact_text
from nodes.security.private_files import make_private_folder, open_private_file
from nodes.text.finite_json import parse_finite_json

FORM_ERRORS: Final = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
    OverflowError,
)
"""What reading values of another form than this version writes may raise."""
MAX_SECONDS: Final = 1e9
Event = Mapping[str, Any]
EventListener = Callable[[Event], None]

_logger = logging.getLogger(__name__)


class EventLog:
    """Saves every event of a run, and passes it to a listener. A context manager.

    Without a path, or before it is entered, events only go to the listener.
    """

    def __init__(self, path: Path | None, listener: EventListener | None = None) -> None:
        self.path, self.listener = path, listener
        self._file: TextIO | None = None

    def __enter__(self) -> "EventLog":
        if self.path:
            try:
                make_private_folder(self.path.parent)
                end_last_line(self.path)
                self._file = open(self.path, "a", encoding="utf-8", opener=open_private_file)
            except OSError as error:
                raise _build_write_error(self.path, error) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            with suppress(OSError):  # closing writes the rest of a failed write
                self._file.close()

    def write_required(self, entry: Event) -> None:
        """Add the line from which a resume begins; without it on file a run must not begin.

        Raises:
            StoreError: the line cannot be written.
        """
        try:
            self._append_line(entry)
        except OSError as error:
            assert self.path is not None, "a line was written"
            raise _build_write_error(self.path, error) from error

    def write_entry(self, entry: Event) -> None:
        """Add a line; an entry without `kind` is a note of the runner, not an event.

        A failed write does not end the run: the listener gets one error event, and the trace ends.
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
        """Save an event, then pass it to the listener, whose failure does not end the run."""
        self.write_entry(event)
        if self.listener:
            try:
                self.listener(event)
            except Exception as error:  # of the caller's own code
                _logger.warning("the listener failed at %s: %r", event.get("kind"), error)

    def _append_line(self, entry: Event) -> None:
        if self._file:
            self._file.write(format_trace_line(entry) + "\n")
            self._file.flush()


def _build_write_error(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"the trace {path} cannot be written",
        cause=error.strerror or str(error),
        kept="what was saved before",
        next="free disk space, fix the permissions of its folder, or set SUPERVISE_DATABASE_URL",
    )


def _build_truncation_event(entry: Event, error: OSError) -> Event:
    message = f"the trace ends here, but the run continues: {error.strerror or error}"
    said = {"code": "TRACE_UNWRITABLE", "state": "cut", "message": message}
    return make_event("error", entry.get("t", 0.0), **said)


def read_log_entries(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of an event log in order.

    Raises:
        FileNotFoundError: there is no event log.
    """
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                entry = parse_finite_json(line)
            except ValueError:  # a line that a kill or a full disk cut short
                continue
            if isinstance(entry, dict):
                yield entry


def read_last_time(path: Path) -> float:
    """Return the time of the last event, where a resumed run's clock continues; 0 without."""
    if not path.exists():
        return 0.0
    times = (entry.get("t") for entry in read_log_entries(path))
    known = (t for t in times if isinstance(t, int | float) and 0 <= t <= MAX_SECONDS)
    return float(max(known, default=0.0))


def end_last_line(path: Path) -> None:
    """End a line that a kill cut short, so that the next entry gets its own line."""
    if path.exists() and path.stat().st_size:
        with path.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
