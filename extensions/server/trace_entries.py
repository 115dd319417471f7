"""Checks the entries of a trace that a server has sent, before anything reads them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from graph.runs.run_view import RunEvent
from nodes.text.finite_json import parse_finite_json
from state import Answer, Plan, Report, RunStatus, RunUsage, Timing

_PARTS: Final[Mapping[str, type[BaseModel]]] = {
    "plan": Plan,
    "report": Report,
    "answer": Answer,
    "timing": Timing,
}
"""Types of the values of an event that others read into."""
_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "answer": ("answer", "usage", "timing", "status"),
    "report": ("report",),
    "plan_created": ("plan",),
}
_NOTES: Final = ("run", "resumed", "stopped", "asked")
MAX_NOTE_CHARS: Final = 500
_STATUS: Final = TypeAdapter[RunStatus](RunStatus)


@dataclass
class CheckedEntries:
    """The readable entries, in order, and how many others there were."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    unreadable: int = 0

    def add_lines(self, lines: Iterable[object]) -> None:
        """Add the entries of some lines."""
        for line in lines:
            entry = _read_line(line)
            if entry is None:
                self.unreadable += 1
            else:
                self.entries.append(entry)


def check_event(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an event that can be shown; None for one that this version cannot read."""
    try:
        RunEvent.model_validate(event)
        for name in _REQUIRED.get(str(event["kind"]), ()):
            event[name]
        for name, kind in _PARTS.items():
            if event.get(name) is not None and not (name == "answer" and event["kind"] != "answer"):
                kind.model_validate(event[name])
        if event["kind"] == "answer":
            RunUsage.model_validate(event["usage"])
            _STATUS.validate_python(event["status"])
        if event["kind"] == "request":
            _check_request(event)
    except (ValidationError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return dict(event)


def _read_line(line: object) -> dict[str, Any] | None:
    if not isinstance(line, str):
        return None
    try:
        entry = parse_finite_json(line)
    except ValueError:
        return None
    if not isinstance(entry, dict):
        return None
    return check_event(entry) if "kind" in entry else _check_note(entry)


def _check_note(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the note of a run's start or end, with short texts only."""
    name = next((name for name in _NOTES if name in entry), None)
    if name is None:
        return None
    value = entry[name]
    if name == "run":
        known = value if isinstance(value, Mapping) else {}
        return {"run": {each: str(known.get(each, ""))[:MAX_NOTE_CHARS] for each in RUN_NAMES}}
    return {name: [] if name == "asked" else str(value)[:MAX_NOTE_CHARS]}


RUN_NAMES: Final = ("thread", "team", "started")


def _check_request(event: Mapping[str, Any]) -> None:
    """Raise TypeError for a request whose values have other types."""
    models, materials = event.get("models", {}), event.get("materials", [])
    is_named = isinstance(models, Mapping) and isinstance(materials, list)
    if not isinstance(event.get("request", ""), str) or not is_named:
        raise TypeError("not a request")
