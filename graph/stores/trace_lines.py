"""One entry of a run's trace as a line of JSON, in a file and in a server's database alike."""

from collections.abc import Mapping
from typing import Any

from nodes.errors.redaction import redact_text
from nodes.text.finite_json import format_finite_json


def make_event(kind: str, t: float, **more: Any) -> dict[str, Any]:
    """Return an event of the run itself, at some seconds on its clock."""
    return {"t": t, "kind": kind, "task": "", "worker": "", **more}


def format_trace_line(entry: Mapping[str, Any]) -> str:
    """Return an entry as one line of ASCII, without a known secret."""
    return redact_text(format_finite_json(entry, ensure_ascii=True, default=str))
