"""Python tracebacks in logs and other texts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodes.tools.incident.logs import Entry, read_log
from nodes.tools.plain_text import plain

_BEGIN = re.compile(r"Traceback \(most recent call last\):[ \t]*\n")
_FRAME = re.compile(
    r'[ \t]*File "(?P<file>[^"\n]{1,400})", line (?P<line>\d{1,7}), in (?P<function>[^\n]{1,200})\n'
    r"(?:(?![ \t]*File \")[ \t]+(?P<code>[^\n]*)\n)?(?:(?![ \t]*File \")[ \t][^\n]*\n)*"
)
_END = re.compile(r"(?P<kind>[A-Za-z_][\w.]{0,200})(?:: (?P<message>[^\n]*))?")
MAX_FRAMES = 200


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
    line: int
    first: datetime | None


def traces_in(text: str) -> Iterator[Trace]:
    """Find the tracebacks of a text; of chained exceptions each is one."""
    for begin in _BEGIN.finditer(text):
        at, frames = begin.end(), list[Frame]()
        while len(frames) < MAX_FRAMES and (found := _FRAME.match(text, at)):
            code = (found["code"] or "").strip()
            frames.append(Frame(found["file"], int(found["line"]), found["function"], code))
            at = found.end()
        if frames and (end := _END.match(text, at)):
            yield Trace(end["kind"], end["message"] or "", tuple(frames))


def seen_traces(logs: Mapping[str, str], prose: Mapping[str, str]) -> list[Seen]:
    """Gather the tracebacks of all texts, those that end alike as one; the most frequent first."""
    held: dict[tuple[str, str, int], list[tuple[Trace, Entry]]] = {}
    for entry in _entries(logs, prose):
        # Of a chain the last is what went up.
        for trace in list(traces_in(f"{entry.trace}\n"))[-1:]:
            last = trace.frames[-1]
            held.setdefault((trace.name, last.file, last.line), []).append((trace, entry))
    found = [_seen(group) for group in held.values()]
    return sorted(found, key=lambda one: -one.count)


def _entries(logs: Mapping[str, str], prose: Mapping[str, str]) -> Iterator[Entry]:
    for name, text in logs.items():
        for entry in read_log(name, text).entries:
            if "Traceback" in entry.trace:
                yield entry
    for name, text in prose.items():
        for begin in _BEGIN.finditer(text := plain(text)):
            line = text.count("\n", 0, begin.start()) + 1
            yield Entry(name, line, None, trace=text[begin.start() :][:50_000])


def _seen(group: Sequence[tuple[Trace, Entry]]) -> Seen:
    trace, _ = group[0]
    entries = [entry for _, entry in group]
    times = [entry.time for entry in entries if entry.time]
    return Seen(
        trace, len(group), entries[0].source, entries[0].line, min(times) if times else None
    )
