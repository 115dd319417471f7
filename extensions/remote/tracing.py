"""Headers that join a remote worker's trace to that of this run, where tracing is switched on."""

import sys
from typing import Final
from urllib.parse import quote

from langsmith.run_helpers import get_current_run_tree
from langsmith.utils import tracing_is_enabled

_OPEN_TELEMETRY: Final = "opentelemetry.trace"


def build_trace_headers() -> dict[str, str]:
    """Return the headers of LangSmith and of OpenTelemetry; empty where neither traces."""
    return {**_read_langsmith(), **_read_open_telemetry()}


def _read_langsmith() -> dict[str, str]:
    """Return the place in the trace and the project; not the run's metadata, which stays here."""
    tree = get_current_run_tree() if tracing_is_enabled() is True else None
    if tree is None:
        return {}
    project = quote(str(tree.session_name), safe="")
    return {
        "langsmith-trace": str(tree.dotted_order),
        "baggage": f"langsmith-project={project}",
    }


def _read_open_telemetry() -> dict[str, str]:
    trace = sys.modules.get(_OPEN_TELEMETRY)  # not imported: nothing is traced
    if trace is None:
        return {}
    span = trace.get_current_span().get_span_context()
    if not span.is_valid:
        return {}
    return {"traceparent": f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"}
