"""One entry of a run's trace as a line of JSON, in a file and in a server's database alike."""

from collections.abc import Mapping
from typing import Any

from nodes.errors.redaction import redact_text
from nodes.text.finite_json import format_finite_json


def format_trace_line(entry: Mapping[str, Any]) -> str:
    """Return an entry as one line of ASCII, without a known secret."""
    return redact_text(format_finite_json(entry, ensure_ascii=True, default=str))
