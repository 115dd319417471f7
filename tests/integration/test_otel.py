"""Spans by OpenTelemetry's conventions for generative AI, read in memory."""

from collections.abc import Iterator, Sequence
from threading import Event

import pytest
from opentelemetry.instrumentation.genai.langchain import LangChainInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from graph.otel_export import WarningExporter, build_provider, flush_spans
from nodes.schemas.team import Team
from tests.endpoint import ScriptedTask
from tests.runs import REQUEST, Runs
from tests.teams import make_team

FAILURE = {"status": "failed", "output": "The figures are not there."}
REPORT = {"output": "Part b costs 42 EUR.", "confidence": 90}


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    instrumentor = LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    yield kept
    instrumentor.uninstrument()


async def trace_graph(
    exporter: InMemorySpanExporter, runs: Runs, team: Team
) -> tuple[ReadableSpan, ...]:
    graph = runs.build_graph(team)
    await graph.ainvoke(
        {"request": REQUEST},
        {"configurable": {"thread_id": "T"}},
        context={"speculate": False},  # so that each run has the same tree
    )
    return exporter.get_finished_spans()


def read_attributes(spans: tuple[ReadableSpan, ...], name: str) -> dict[str, object]:
    span = next(each for each in spans if each.name == name)
    return dict(span.attributes or {})


async def test_parallel_workers_are_agents_inside_the_workflow_of_their_team(
    runs: Runs, exporter: InMemorySpanExporter
):
    call = ("search_documents", {"query": "figures"})
    tasks = (
        ScriptedTask(id="a", tool_calls=(call,), latency_s=0.3),
        ScriptedTask(id="b", worker="analyst", report=[FAILURE, REPORT], latency_s=0.3),
    )
    fields = make_team("researcher", "analyst").model_dump()
    fields["workers"][0]["tools"] = ["search_documents"]
    runs.script(*tasks)

    spans = await trace_graph(exporter, runs, Team.model_validate(fields))

    (root,) = (span for span in spans if span.parent is None)
    assert root.name == "invoke_workflow trio"
    agents = [span for span in spans if span.name.startswith("invoke_agent")]
    assert {find_parent(spans, span) for span in agents} == {root}
    assert sorted(span.name for span in agents) == [
        "invoke_agent analyst",
        "invoke_agent analyst",
        "invoke_agent researcher",
    ]
    inside = [
        each.name
        for each in spans
        if (around := find_parent(spans, each)) and around.name == "invoke_agent researcher"
    ]
    assert inside.count("chat gpt-5-mini") == 2
    assert inside.count("execute_tool search_documents") == 1
    failed = [span.name for span in agents if span.status.status_code is StatusCode.ERROR]
    assert failed == ["invoke_agent analyst"]


async def test_spans_have_the_attributes_of_the_convention_and_no_content(
    runs: Runs, exporter: InMemorySpanExporter
):
    runs.script(ScriptedTask(id="a"))

    spans = await trace_graph(exporter, runs, make_team())

    shared = {"gen_ai.conversation.id": "T"}
    workflow = read_attributes(spans, "invoke_workflow trio")
    assert workflow.items() >= {**shared, "gen_ai.workflow.name": "trio"}.items()
    agent = read_attributes(spans, "invoke_agent researcher")
    assert agent.items() >= {**shared, "gen_ai.agent.name": "researcher"}.items()
    chat = next(span for span in spans if span.name == "chat gpt-5")
    assert chat.kind is SpanKind.CLIENT and chat.attributes is not None
    assert chat.attributes["gen_ai.provider.name"] == "openai"
    assert int(str(chat.attributes["gen_ai.usage.input_tokens"])) > 0
    assert REQUEST not in str([span.to_json() for span in spans])


async def test_prompts_are_in_spans_where_the_standard_variable_says_so(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "span_only")
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    instrumentor = LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    runs.script(ScriptedTask(id="a"))

    try:
        spans = await trace_graph(kept, runs, make_team())
    finally:
        instrumentor.uninstrument()

    assert REQUEST in str(read_attributes(spans, "chat gpt-5")["gen_ai.input.messages"])


async def test_workers_of_an_inner_team_are_inside_the_agent_that_the_team_is(
    runs: Runs, exporter: InMemorySpanExporter
):
    spans = await trace_graph(exporter, runs, runs.script_inner_team())

    assert list(list_span_tree(spans)) == [
        *("invoke_workflow house", "  chat gpt-5", "  invoke_agent library", "    chat gpt-5"),
        *("    invoke_agent reader", "      chat gpt-5-mini", "    chat gpt-5-mini"),
        "  chat gpt-5-mini",
    ]


async def test_a_worker_inside_a_task_of_its_own_is_an_agent_too(
    runs: Runs, exporter: InMemorySpanExporter
):
    task = ScriptedTask(id="a", report=[FAILURE, FAILURE, FAILURE, REPORT])
    runs.script(task)

    spans = await trace_graph(exporter, runs, make_team("researcher"))

    (inner,) = (span for span in spans if span.name == "invoke_agent researcher (a)")
    around = find_parent(spans, inner)
    assert around and around.name == "invoke_agent researcher"


class BrokenExporter(SpanExporter):
    def export(self, spans: object) -> SpanExportResult:
        raise ConnectionError("refused")


class StuckExporter(SpanExporter):
    def __init__(self) -> None:
        self.released = Event()

    def export(self, spans: object) -> SpanExportResult:
        self.released.wait(10)
        return SpanExportResult.SUCCESS


def test_spans_that_cannot_be_sent_are_reported_once(caplog: pytest.LogCaptureFixture):
    exporter = WarningExporter(BrokenExporter())

    assert exporter.export([]) is exporter.export([]) is SpanExportResult.FAILURE

    (warned,) = caplog.messages
    assert "spans were not sent, which changes no run: ConnectionError: refused" in warned
    assert "next: check OTEL_EXPORTER_OTLP_ENDPOINT" in warned


def test_the_end_of_a_process_waits_for_spans_only_within_a_limit(
    caplog: pytest.LogCaptureFixture,
):
    stuck = StuckExporter()
    exporter = WarningExporter(stuck)
    provider = build_provider(exporter)
    provider.get_tracer("test").start_span("a").end()

    flush_spans(provider, exporter, limit_s=0.1)
    flush_spans(provider, exporter, limit_s=0.1)
    stuck.released.set()

    (warned,) = caplog.messages
    assert "the last ones took longer than 0.1 s" in warned


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
