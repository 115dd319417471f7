"""Find Python tracebacks in logs and other texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodes.text.plain_text import sanitize_text
from nodes.tools.failures.python_traces import HEADER, find_python_failures

from .logs import LogEntry, read_log


@dataclass(frozen=True)
class TraceFrame:
    """A call that led to an exception."""

    file: str
    line: int
    function: str
    code: str


@dataclass(frozen=True)
class ExceptionTrace:
    """An exception and the calls that led to it, the outermost first."""

    kind: str
    message: str
    frames: tuple[TraceFrame, ...]

    @property
    def name(self) -> str:
        """Return the exception's class without its module."""
        return self.kind.rpartition(".")[2]


@dataclass(frozen=True)
class LoggedTrace:
    """A trace, how often it is logged, and where first."""

    trace: ExceptionTrace
    count: int
    source: str
    first: datetime | None


def find_traces(text: str) -> Iterator[ExceptionTrace]:
    """Return the tracebacks of a text; of chained exceptions the last, which propagated."""
    for failure in find_python_failures(text.split("\n")):
        frames = tuple(
            TraceFrame(frame.file, frame.line, frame.function, frame.code)
            for frame in reversed(failure.frames)
            if frame.line is not None
        )
        if frames and failure.error:
            yield ExceptionTrace(failure.error, failure.message, frames)


def group_traces(logs: Mapping[str, str], prose: Mapping[str, str]) -> list[LoggedTrace]:
    """Group the tracebacks of all texts by how they end; the most frequent first."""
    held: dict[tuple[str, str, int], list[tuple[ExceptionTrace, LogEntry]]] = {}
    for entry in _list_entries(logs, prose):
        for trace in find_traces(entry.trace):
            last = trace.frames[-1]
            held.setdefault((trace.name, last.file, last.line), []).append((trace, entry))
    found = [_build_logged_trace(group) for group in held.values()]
    return sorted(found, key=lambda one: -one.count)


def _list_entries(logs: Mapping[str, str], prose: Mapping[str, str]) -> Iterator[LogEntry]:
    for name, text in logs.items():
        for entry in read_log(name, text).entries:
            if HEADER in entry.trace:
                yield entry
    for name, text in prose.items():
        yield LogEntry(name, 1, None, trace=sanitize_text(text))


def _build_logged_trace(group: Sequence[tuple[ExceptionTrace, LogEntry]]) -> LoggedTrace:
    trace, _ = group[0]
    entries = [entry for _, entry in group]
    times = [entry.time for entry in entries if entry.time]
    return LoggedTrace(trace, len(group), entries[0].source, min(times) if times else None)
