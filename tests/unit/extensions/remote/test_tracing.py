"""Headers of a trace are sent where tracing is switched on, and nowhere else."""

from langsmith.run_helpers import tracing_context
from langsmith.run_trees import RunTree
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from extensions.remote.tracing import build_trace_headers


def test_without_tracing_no_header_is_sent() -> None:
    with tracing_context(enabled=False):
        assert build_trace_headers() == {}


def test_with_langsmith_the_place_in_the_trace_is_sent_and_no_metadata() -> None:
    tree = RunTree(name="act", project_name="my project", extra={"metadata": {"secret": "x"}})

    with tracing_context(enabled=True, parent=tree):
        headers = build_trace_headers()

    assert headers == {
        "langsmith-trace": tree.dotted_order,
        "baggage": "langsmith-project=my%20project",
    }


def test_with_open_telemetry_the_span_is_sent() -> None:
    tracer = TracerProvider().get_tracer("test")

    with tracing_context(enabled=False), tracer.start_as_current_span("act") as span:
        headers = build_trace_headers()

    context = span.get_span_context()
    ids = f"{context.trace_id:032x}-{context.span_id:016x}"
    assert headers == {"traceparent": f"00-{ids}-{context.trace_flags:02x}"}
    assert trace.get_current_span().get_span_context().is_valid is False
