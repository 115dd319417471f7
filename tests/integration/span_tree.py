"""Spans of OpenTelemetry as a tree to read and to compare."""

from collections.abc import Iterator, Sequence

from opentelemetry.sdk.trace import ReadableSpan


def list_span_tree(
    spans: Sequence[ReadableSpan], parent: ReadableSpan | None = None, depth: int = 0
) -> Iterator[str]:
    """Yield the name of each span, indented below the span around it, in the order they began."""
    for span in sorted(_list_inside(spans, parent), key=lambda each: each.start_time or 0):
        yield "  " * depth + span.name
        yield from list_span_tree(spans, span, depth + 1)


def find_parent(spans: Sequence[ReadableSpan], span: ReadableSpan) -> ReadableSpan | None:
    """Return the span around a span; None for the root."""
    if span.parent is None:
        return None
    return next(each for each in spans if each.context.span_id == span.parent.span_id)


def _list_inside(spans: Sequence[ReadableSpan], parent: ReadableSpan | None) -> list[ReadableSpan]:
    around = parent.context.span_id if parent else None
    return [each for each in spans if (each.parent.span_id if each.parent else None) == around]
