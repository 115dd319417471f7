"""Reads the record of a run, which is data that anyone may have written: sizes are bounded."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final

from extensions.replay.record_form import RecordRefused, check_begun, check_entry
from extensions.replay.record_members import MAX_MEMBERS, RecordTooLarge, read_lines
from graph.runs.event_log import FORM_ERRORS
from graph.stores.serializer import build_strict_serializer
from nodes.errors import FileUnreadable
from nodes.text.finite_json import parse_finite_json
from nodes.text.plain_text import sanitize_line

MAX_VALUES: Final = 5_000_000
"""Of all lines together; more would fill the memory."""
MAX_CAUSE_CHARS: Final = 200

Entry = Mapping[str, Any]


class RecordUnreadable(FileUnreadable):
    """A record is damaged, or of another form."""

    code = "RECORD_UNREADABLE"


class RecordMissing(FileUnreadable):
    """A thread has no record."""

    code = "RECORD_MISSING"


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
    except (RecordRefused, RecordTooLarge) as error:
        raise refuse(path, str(error)) from None
    except (OSError, *FORM_ERRORS) as error:
        raise refuse(path, f"{type(error).__name__}: {error}") from None
    if not segments:
        raise refuse(path, "it has no beginning: it is no record, or is cut")
    return Record(path, segments)


def _read_segments(path: Path) -> list[Segment]:
    if not S_ISREG(path.stat().st_mode):  # to open it may wait for ever
        raise RecordRefused("it is no file")
    segments, values = list[Segment](), 0
    for line, is_cut in read_lines(path):
        values += 1 + sum(map(line.count, (b",", b"[", b"{")))
        if values > MAX_VALUES:
            raise RecordTooLarge(f"it has more than {MAX_VALUES:,} values")
        if line:
            value = parse_finite_json(line.decode())
            if b"\\u" in line:
                json.dumps(value, ensure_ascii=False).encode()  # halves of surrogate pairs are none
            _add_entry(segments, value)
        elif segments:
            segments[-1].is_cut |= is_cut
    return segments


def refuse(path: Path, cause: str) -> RecordUnreadable:
    """Return the error of a record that cannot be used; the cause may have words of its own."""
    said = sanitize_line(cause, MAX_CAUSE_CHARS)
    return RecordUnreadable(
        f"the record {path} cannot be read", cause=said, kept="the run", next="run it again"
    )


def _add_entry(segments: list[Segment], entry: Any) -> None:
    match entry:
        case {"segment": dict(begun)}:
            segments.append(Segment(check_begun(begun)))
            if len(segments) > MAX_MEMBERS:
                raise RecordTooLarge(f"it has more than {MAX_MEMBERS:,} parts")
        case dict() if not segments:
            raise RecordRefused("it has no beginning")
        case {"end": dict(ended)}:
            segments[-1].ended = ended
            if "readings" in entry:
                segments[-1].entries.append(check_entry({"readings": entry["readings"]}))
        case dict() if not {"segment", "end"} & entry.keys():
            segments[-1].entries.append(check_entry(entry))
        case _:
            raise RecordRefused("a line is no entry")


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
