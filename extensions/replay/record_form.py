"""The form of a record's lines; what has another one is refused before it is used."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Required

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    with_config,
)
from typing_extensions import TypedDict

from graph.runs.event_log import MAX_SECONDS
from graph.stores.thread_locks import ThreadInvalid, check_thread_id
from nodes.limits.nesting import expand_references
from nodes.telemetry.events import EventKind

MAX_TOOLS: Final = 1_000
"""Of a worker."""
MAX_TASKS: Final = 5_000
"""Of a plan: five times as many as a team may allow."""
MAX_WORKERS: Final = 1_000
"""Of a team, with those of the teams in it: a graph is built for each."""

Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False)]
Number = Annotated[int, Field(ge=0, le=2**31)]
Encoded = tuple[str, str]
_OPEN: Final = ConfigDict(extra="allow")


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


@with_config(_OPEN)
class _Plan(TypedDict):
    tasks: Annotated[list[JsonValue], Field(max_length=MAX_TASKS)]


@with_config(_OPEN)
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


@with_config(_OPEN)
class _Event(TypedDict, total=False):
    t: Required[Seconds]
    kind: Required[EventKind]
    task: Required[str]
    worker: Required[str]
    seconds: Seconds


@with_config(_OPEN)
class _EventEntry(TypedDict):
    event: _Event


@with_config(_OPEN)
class _Failure(TypedDict, total=False):
    said: Required[str]
    fields: dict[str, JsonValue]
    usage: dict[str, JsonValue]


@with_config(_OPEN)
class _Asked(TypedDict):
    id: str
    value: JsonValue


@with_config(_OPEN)
class _EffectEntry(TypedDict, total=False):
    effect: Required[Number]
    key: Required[tuple[str, str, str, Number]]
    sections: Required[dict[str, str]]
    at: Required[tuple[Seconds, Seconds]]
    heard: list[str]
    cut: Literal[True]
    asked: list[_Asked]
    failure: _Failure


@with_config(_OPEN)
class _PointEntry(TypedDict):
    point: str


@with_config(_OPEN)
class _Tool(TypedDict):
    name: str
    description: str
    parameters: Annotated[dict[str, JsonValue], AfterValidator(_require_small)]
    metadata: dict[str, JsonValue]


@with_config(_OPEN)
class _ToolsEntry(TypedDict):
    tools: str
    described: Annotated[list[_Tool], Field(max_length=MAX_TOOLS)]


@with_config(_OPEN)
class _StopEntry(TypedDict):
    stop: str
    at: Seconds


@with_config(_OPEN)
class _ReadingsEntry(TypedDict):
    readings: list[tuple[str, Number, Any]]


_TIMES: Final = ("elapsed ", "remaining ")
"""What the names of readings begin with that are seconds."""
_BEGUN: Final = TypeAdapter[Any](_Begun)
_FORMS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "event": TypeAdapter(_EventEntry),
    "effect": TypeAdapter(_EffectEntry),
    "point": TypeAdapter(_PointEntry),
    "tools": TypeAdapter(_ToolsEntry),
    "stop": TypeAdapter(_StopEntry),
    "readings": TypeAdapter(_ReadingsEntry),
}
"""By the key that an entry of this form has."""


def check_begun(begun: Mapping[str, Any], version: int) -> Mapping[str, Any]:
    """Return what a part of a record begins with.

    Raises:
        RecordRefused: it is of another version, or has another form.
    """
    if begun.get("version") != version:
        found = f"{begun.get('version')!r:.20}"
        raise RecordRefused(f"it is of version {found}, this program reads {version}")
    checked: Mapping[str, Any] = _check(_BEGUN, begun)
    try:
        check_thread_id(checked["thread"])
    except ThreadInvalid as error:
        raise RecordRefused(str(error)) from None
    if _count_workers(checked["team"]) > MAX_WORKERS:
        raise RecordRefused(f"its team has more than {MAX_WORKERS:,} workers")
    return checked


def check_entry(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry; one of a kind that is unknown is returned as it is.

    Raises:
        RecordRefused: it has not the form of its kind.
    """
    for name, form in _FORMS.items():
        if name in entry:
            entry = _check(form, entry)
    for name, _, value in entry.get("readings", ()):
        if name.startswith(_TIMES) and not isinstance(value, int | float | None):
            raise RecordRefused(f"{name[:80]!a} is no number")
    return entry


def _check(form: TypeAdapter[Any], value: Any) -> Any:
    try:
        return form.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RecordRefused(f"{place[:80]}: {first['msg'][:100]}") from None


def _count_workers(team: Any) -> int:
    """Return the workers of a team, and of the teams that are its workers."""
    count, teams = 0, [team]
    while teams and count <= MAX_WORKERS:
        workers = teams.pop().get("workers")
        found = (
            [each for each in workers if isinstance(each, dict)]
            if isinstance(workers, list)
            else []
        )
        count += len(found)
        teams += [each["team"] for each in found if isinstance(each.get("team"), dict)]
    return count
