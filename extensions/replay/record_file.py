"""Reads the record of a run, which is data that anyone may have written: sizes are bounded."""

import base64
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from graph.runs.run_recorder import TEXT_KEY, VERSION
from graph.stores.serializer import build_strict_serializer
from nodes.errors import FileUnreadable
from nodes.text.finite_json import parse_finite_json

MAX_PLAIN_BYTES: Final = 400_000_000
"""Of a record, after decompression."""
MAX_FILE_BYTES: Final = 200_000_000
MAX_LINE_CHARS: Final = 40_000_000
MAX_ENTRIES: Final = 2_000_000
MAX_DEPTH: Final = 60
_GZIP: Final = 31
_CHUNK: Final = 1 << 20

Entry = Mapping[str, Any]


class RecordUnreadable(FileUnreadable):
    """A record is damaged, or of another form."""

    code = "RECORD_UNREADABLE"


class RecordMissing(FileUnreadable):
    """A thread has no record."""

    code: ClassVar[str] = "RECORD_MISSING"


@dataclass
class Segment:
    """What one process has kept of a run."""

    begun: Entry
    """The input, the settings, the team, and the state in which it began."""
    entries: list[Entry] = field(default_factory=list)
    ended: Entry | None = None
    """What the run had come to; None where the process was killed."""
    is_cut: bool = False
    """Its end is missing or damaged."""


@dataclass(frozen=True)
class Record:
    """The record of a run; a resumed one has several segments."""

    path: Path
    segments: list[Segment]

    @property
    def thread(self) -> str:
        """The thread of the run."""
        return str(self.segments[0].begun.get("thread", ""))

    @property
    def is_cut(self) -> bool:
        """Whether a part at its end is missing or damaged."""
        return any(segment.is_cut for segment in self.segments)


def read_record(path: Path) -> Record:
    """Return the record in a file.

    Raises:
        RecordMissing: there is no such file.
        RecordUnreadable: it is no record, or one of another version.
    """
    try:
        segments = _read_segments(path)
    except FileNotFoundError:
        raise RecordMissing(
            f"there is no record {path}",
            cause="the run was made without one, or it was pruned",
            next="run it again; SUPERVISE_RECORD=false keeps none",
        ) from None
    except (OSError, zlib.error, *_FORM_ERRORS) as error:
        raise _refuse(path, f"{type(error).__name__}: {str(error)[:200]}") from None
    if not segments:
        raise _refuse(path, "it has no beginning")
    _require_version(path, segments)
    return Record(path, segments)


def _read_segments(path: Path) -> list[Segment]:
    if path.stat().st_size > MAX_FILE_BYTES:
        raise _refuse(path, f"it has more than {MAX_FILE_BYTES:,} bytes")
    segments, texts = list[Segment](), dict[str, str]()
    for count, (line, is_cut) in enumerate(read_lines(path)):
        if not is_cut:
            _add_entry(segments, _restore(parse_finite_json(line), texts), texts)
        elif segments:
            segments[-1].is_cut = True
        if count > MAX_ENTRIES:
            raise _refuse(path, f"it has more than {MAX_ENTRIES:,} entries")
    return segments


_FORM_ERRORS: Final = (ValueError, KeyError, TypeError, RecursionError, AttributeError)


def _refuse(path: Path, cause: str) -> RecordUnreadable:
    return RecordUnreadable(
        f"the record {path} cannot be read", cause=cause, kept="the run", next="run it again"
    )


def _require_version(path: Path, segments: list[Segment]) -> None:
    for segment in segments:
        if (version := segment.begun.get("version")) != VERSION:
            raise _refuse(path, f"it is of version {version!r:.20}, this program reads {VERSION}")


def read_lines(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the lines of all gzip members, and an empty one where one is cut short."""
    total = 0
    with path.open("rb") as file:
        unzip, rest, data = zlib.decompressobj(_GZIP), b"", file.read(_CHUNK)
        while data:
            try:
                plain = unzip.decompress(data, _CHUNK)
            except zlib.error:
                yield "", True
                return
            total += len(plain)
            if total > MAX_PLAIN_BYTES or len(rest) > MAX_LINE_CHARS:
                raise ValueError(f"it unpacks to more than {MAX_PLAIN_BYTES:,} bytes")
            *lines, rest = (rest + plain).split(b"\n")
            yield from ((line.decode(), False) for line in lines if line)
            data = unzip.unconsumed_tail
            if unzip.eof:
                data, unzip, rest = unzip.unused_data, zlib.decompressobj(_GZIP), b""
            data = data or file.read(_CHUNK)
    if rest:
        yield "", True


def _restore(value: Any, texts: Mapping[str, str], depth: int = 0) -> Any:
    """Return a value with the texts in the place of their hashes."""
    if depth > MAX_DEPTH:
        raise ValueError("a value is nested too deeply")
    match value:
        case {"$text": str(name), **rest} if not rest:
            return texts[name]
        case dict() if TEXT_KEY not in value:
            return {key: _restore(item, texts, depth + 1) for key, item in value.items()}
        case list():
            return [_restore(item, texts, depth + 1) for item in value]
        case _:
            return value


def _add_entry(segments: list[Segment], entry: Any, texts: dict[str, str]) -> None:
    match entry:
        case {"$text": str(name), "text": str(text)}:
            texts[name] = text
        case {"segment": dict(begun)}:
            segments.append(Segment(begun))
        case {"end": dict(ended)}:
            segments[-1].ended = ended
            if "readings" in entry:
                segments[-1].entries.append({"readings": entry["readings"]})
        case dict():
            segments[-1].entries.append(entry)
        case _:
            raise ValueError("a line is no entry")


def decode_value(encoded: Any) -> Any:
    """Return a value of our own types; no other type is read, and nothing is run.

    Raises:
        RecordUnreadable: it is no such value.
    """
    try:
        kind, data = encoded
        return build_strict_serializer().loads_typed((kind, base64.b64decode(data)))
    except Exception as error:  # whatever damaged bytes make of a decoder
        raise RecordUnreadable(
            "a value of the record cannot be read", cause=f"{type(error).__name__}"
        ) from None
