"""The form of a record's lines; what has another one is refused before it is used."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Required

from pydantic import AfterValidator, Field, JsonValue, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from extensions.replay.run_state import VERSION
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
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RecordRefused(f"{place[:80]}: {first['msg'][:100]}") from None


def _count_workers(team: Mapping[str, Any]) -> int:
    """Return the workers of a team, and of the teams that are its workers."""
    workers = team.get("workers") or ()
    return len(workers) + sum(_count_workers(each.get("team") or {}) for each in workers)
