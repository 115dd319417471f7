"""Python tracebacks in logs and other texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodes.tools.failures.python_traces import HEADER, python_failures
from nodes.tools.incident.logs import Entry, read_log
from nodes.tools.plain_text import plain


@dataclass(frozen=True)
class Frame:
    """A call on the way to an exception."""

    file: str
    line: int
    function: str
    code: str


@dataclass(frozen=True)
class Trace:
    """An exception and the calls that led to it, the outermost first."""

    kind: str
    message: str
    frames: tuple[Frame, ...]

    @property
    def name(self) -> str:
        """Give the exception's class without its module."""
        return self.kind.rpartition(".")[2]


@dataclass(frozen=True)
class Seen:
    """A trace, how often it is logged, and where first."""

    trace: Trace
    count: int
    source: str
    first: datetime | None


def traces_in(text: str) -> Iterator[Trace]:
    """Find the tracebacks of a text; of chained exceptions the last, which went up."""
    for failure in python_failures(text.split("\n")):
        frames = tuple(
            Frame(frame.file, frame.line, frame.function, frame.code)
            for frame in reversed(failure.frames)
            if frame.line is not None
        )
        if frames and failure.error:
            yield Trace(failure.error, failure.message, frames)


def seen_traces(logs: Mapping[str, str], prose: Mapping[str, str]) -> list[Seen]:
    """Gather the tracebacks of all texts, those that end alike as one; the most frequent first."""
    held: dict[tuple[str, str, int], list[tuple[Trace, Entry]]] = {}
    for entry in _entries(logs, prose):
        for trace in traces_in(entry.trace):
            last = trace.frames[-1]
            held.setdefault((trace.name, last.file, last.line), []).append((trace, entry))
    found = [_seen(group) for group in held.values()]
    return sorted(found, key=lambda one: -one.count)


def _entries(logs: Mapping[str, str], prose: Mapping[str, str]) -> Iterator[Entry]:
    for name, text in logs.items():
        for entry in read_log(name, text).entries:
            if HEADER in entry.trace:
                yield entry
    for name, text in prose.items():
        yield Entry(name, 1, None, trace=plain(text))


def _seen(group: Sequence[tuple[Trace, Entry]]) -> Seen:
    trace, _ = group[0]
    entries = [entry for _, entry in group]
    times = [entry.time for entry in entries if entry.time]
    return Seen(trace, len(group), entries[0].source, min(times) if times else None)
