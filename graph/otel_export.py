"""Sends spans of runs to an OpenTelemetry collector. Imported only where that is switched on."""

import atexit
import logging
from collections.abc import Sequence
from threading import Thread
from typing import Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.genai.langchain import LangChainInstrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from nodes.errors.redaction import redact_text

DEFAULT_SERVICE: Final = "supervisor-worker"
UNNAMED_SERVICE: Final = "unknown_service"
FLUSH_LIMIT_S: Final = 1.5
"""Limit for sending the last spans when the process ends."""
ADVICE: Final = "check OTEL_EXPORTER_OTLP_ENDPOINT, or unset SUPERVISE_OTEL"
EXPORT_DELAY_MS: Final = 1000

_logger = logging.getLogger("supervisor_worker.otel")
"""Not a logger that the command line silences: a lost trace is said without `--verbose` too."""


def start_export() -> None:
    """Instrument LangChain; an application that has done so itself is left as it is.

    Its tracer provider is used if it has one.
    """
    instrumentor = LangChainInstrumentor()  # type: ignore[no-untyped-call]  # its own is not typed
    if instrumentor.is_instrumented_by_opentelemetry:
        return
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        exporter = WarningExporter(OTLPSpanExporter())
        provider = build_provider(exporter)
        atexit.register(flush_spans, provider, exporter)
    instrumentor.instrument(tracer_provider=provider)


def build_provider(exporter: SpanExporter) -> TracerProvider:
    """Return a provider that exports in a thread of its own, and never raises."""
    # They report each failed batch, and each retry.
    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
    logging.getLogger("opentelemetry.sdk").setLevel(logging.CRITICAL)
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME, UNNAMED_SERVICE)).startswith(UNNAMED_SERVICE):
        resource = resource.merge(Resource({SERVICE_NAME: DEFAULT_SERVICE}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=EXPORT_DELAY_MS))
    return provider


def flush_spans(
    provider: TracerProvider, exporter: "WarningExporter", limit_s: float = FLUSH_LIMIT_S
) -> None:
    """Send the spans that are left; spans that take longer than the limit are lost."""
    sending = Thread(target=provider.shutdown, name="otel-flush", daemon=True)
    sending.start()
    sending.join(limit_s)
    if sending.is_alive():
        exporter.warn_once(f"the last ones took longer than {limit_s:g} s")


class WarningExporter(SpanExporter):
    """Exports by another exporter, and warns of the first failure alone."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter, self._has_warned = exporter, False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Return whether the spans were sent."""
        cause = "the collector did not accept them"
        try:
            result = self._exporter.export(spans)
        except Exception as error:  # whatever a client raises must not end the sending thread
            result, cause = SpanExportResult.FAILURE, f"{type(error).__name__}: {error}"
        if result is not SpanExportResult.SUCCESS:
            self.warn_once(cause)
        return result

    def warn_once(self, cause: str) -> None:
        """Warn that spans are lost, unless that was said before; no run ends for it."""
        if not self._has_warned:
            self._has_warned = True
            lost = "OpenTelemetry: spans were not sent, which changes no run: %s. next: %s"
            _logger.warning(lost, redact_text(cause), ADVICE)

    def shutdown(self) -> None:
        """Close the exporter."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return whether the exporter has sent all that it was given."""
        return self._exporter.force_flush(timeout_millis)
