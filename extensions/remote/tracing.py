"""Headers that join a remote worker's trace to that of this run, where tracing is switched on."""

import sys
from typing import Final
from urllib.parse import quote

from langsmith.run_helpers import get_current_run_tree
from langsmith.utils import tracing_is_enabled

_OPEN_TELEMETRY: Final = "opentelemetry.trace"


def build_trace_headers() -> dict[str, str]:
    """Return the headers of LangSmith and of OpenTelemetry; empty where neither traces.

    Of LangSmith the place in the trace and the project, not the run's metadata, which stays here.
    """
    headers = dict[str, str]()
    if tracing_is_enabled() is True and (tree := get_current_run_tree()):
        project = quote(str(tree.session_name), safe="")
        headers["langsmith-trace"] = str(tree.dotted_order)
        headers["baggage"] = f"langsmith-project={project}"
    trace = sys.modules.get(_OPEN_TELEMETRY)  # where it is not imported nothing is traced
    span = trace.get_current_span().get_span_context() if trace else None
    if span and span.is_valid:
        place = f"{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"
        headers["traceparent"] = f"00-{place}"
    return headers
