"""Reads the record of a run, which is data that anyone may have written: sizes are bounded."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, Any, Final, Literal, Required

from pydantic import AfterValidator, Field, JsonValue, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from extensions.replay.record_members import MAX_MEMBERS, RecordTooLarge, read_lines
from extensions.replay.run_state import VERSION
from graph.runs.event_log import FORM_ERRORS, MAX_SECONDS
from graph.stores.serializer import build_strict_serializer
from graph.stores.thread_locks import ThreadInvalid, check_thread_id
from nodes.errors import FileUnreadable, describe_invalid
from nodes.limits.nesting import expand_references
from nodes.telemetry.events import EventKind
from nodes.text.finite_json import parse_finite_json
from nodes.text.plain_text import sanitize_line

MAX_TOOLS: Final = 1_000
"""Of a worker."""
MAX_TASKS: Final = 5_000
"""Of a plan: five times as many as a team may allow."""
MAX_WORKERS: Final = 1_000
"""Of a team, with those of the teams in it: a graph is built for each."""

Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False)]
Number = Annotated[int, Field(ge=0, le=2**31)]
Encoded = tuple[str, str]


class RecordRefused(ValueError):
    """A record has not the form that this version writes; the message says why."""


def _require_small(schema: dict[str, Any]) -> dict[str, Any]:
    """Refuse a schema of few references that name very many parts."""
    if '"$ref"' in json.dumps(schema):
        expand_references(schema)
    return schema


class _Models(TypedDict):
    fast: str
    standard: str
    strong: str


class _Plan(TypedDict):
    tasks: Annotated[list[JsonValue], Field(max_length=MAX_TASKS)]


class _Begun(TypedDict):
    thread: str
    team: dict[str, JsonValue]
    input: Encoded
    context: dict[str, JsonValue]
    models: _Models
    settings: dict[str, JsonValue]
    given_plan: _Plan | None
    kept_materials: list[str]
    ignores_saved_context: bool
    began: str
    elapsed_s: Seconds
    checkpoints: list[Encoded]
    is_resumed: bool


class _Event(TypedDict, total=False):
    t: Required[Seconds]
    kind: Required[EventKind]
    task: Required[str]
    worker: Required[str]
    seconds: Seconds


class _Failure(TypedDict, total=False):
    said: Required[str]
    fields: dict[str, JsonValue]
    usage: dict[str, JsonValue]


class _Asked(TypedDict):
    id: str
    value: JsonValue


class _Tool(TypedDict):
    name: str
    description: str
    parameters: Annotated[dict[str, JsonValue], AfterValidator(_require_small)]
    metadata: dict[str, JsonValue]


class _Entry(TypedDict, total=False):
    event: _Event
    point: str
    stop: str
    tools: str
    described: Annotated[list[_Tool], Field(max_length=MAX_TOOLS)]
    readings: list[tuple[str, Number, Any]]


class _Stop(_Entry):
    at: Seconds


class _Effect(_Entry, total=False):
    effect: Required[Number]
    key: Required[tuple[str, str, str, Number]]
    sections: Required[dict[str, str]]
    at: Required[tuple[Seconds, Seconds]]
    heard: list[str]
    cut: Literal[True]
    asked: list[_Asked]
    failure: _Failure


_TIMES: Final = ("elapsed ", "remaining ")
"""What the names of readings begin with that are seconds."""
_BEGUN: Final = TypeAdapter[Any](_Begun)
_ENTRY: Final = TypeAdapter[Any](_Entry)
_FORMS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "effect": TypeAdapter(_Effect),
    "stop": TypeAdapter(_Stop),
}
"""By the key that an entry of this form has; the others are all of one."""


def check_begun(begun: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a part of a record begins with.

    Raises:
        RecordRefused: it is of another version, or has another form.
    """
    if begun.get("version") != VERSION:
        found = f"{begun.get('version')!r:.20}"
        raise RecordRefused(f"it is of version {found}, this program reads {VERSION}")
    _check(_BEGUN, begun)
    try:
        check_thread_id(begun["thread"])
    except ThreadInvalid as error:
        raise RecordRefused(str(error)) from None
    if _count_workers(begun["team"]) > MAX_WORKERS:
        raise RecordRefused(f"its team has more than {MAX_WORKERS:,} workers")
    return begun


def check_entry(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry; one of a kind that is unknown is returned as it is.

    Raises:
        RecordRefused: it has not the form of its kind.
    """
    _check(next((form for name, form in _FORMS.items() if name in entry), _ENTRY), entry)
    for name, _, value in entry.get("readings", ()):
        if name.startswith(_TIMES) and not isinstance(value, int | float | None):
            raise RecordRefused(f"{name[:80]!a} is no number")
    return entry


def _check(form: TypeAdapter[Any], value: Any) -> None:
    try:
        form.validate_python(value)
    except ValidationError as error:
        raise RecordRefused(describe_invalid(error)[:180]) from None


def _count_workers(team: Mapping[str, Any]) -> int:
    """Return the workers of a team, and of the teams that are its workers."""
    workers = team.get("workers") or ()
    return len(workers) + sum(_count_workers(each.get("team") or {}) for each in workers)


MAX_VALUES: Final = 5_000_000
"""Of all lines together; more would fill the memory."""
MAX_CAUSE_CHARS: Final = 200

Entry = Mapping[str, Any]


class RecordUnreadable(FileUnreadable):
    """A record is damaged, or of another form."""


class RecordMissing(FileUnreadable):
    """A thread has no record."""


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
