"""Each fault of the wire becomes one typed error, and never an answer."""

import json
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from nodes.errors import (
    BadResponse,
    CallTimedOut,
    ContextTooSmall,
    EndpointFailed,
    EndpointUnreachable,
    ModelUnknown,
    QuotaSpent,
    RateLimited,
    RequestRefused,
    ResponseCut,
    ResponseTooLarge,
    SupervisorError,
    Unauthorized,
)
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings
from nodes.models.structured_output import ModelReply, UnreadableReply, ask_model
from state import Plan
from supervisor_worker.testing.endpoint.faults import FaultKind
from tests.endpoint import Endpoint, Fault, Scenario, script_tasks

KEY = "sk-test-0123456789abcdef"
TASKS = script_tasks({"a": (), "b": ("a",)})

PLAIN = [
    (Fault(kind="rate_limited"), RateLimited),
    (Fault(kind="quota"), QuotaSpent),
    (Fault(kind="server_error", status=500), EndpointFailed),
    (Fault(kind="server_error", status=502), EndpointFailed),
    (Fault(kind="server_error", status=503), EndpointFailed),
    (Fault(kind="server_error", status=529), EndpointFailed),
    (Fault(kind="context_length"), ContextTooSmall),
    (Fault(kind="unauthorized"), Unauthorized),
    (Fault(kind="unknown_model"), ModelUnknown),
    (Fault(kind="reset"), EndpointUnreachable),
    (Fault(kind="half_body"), ResponseCut),
    (Fault(kind="broken_json"), BadResponse),
    (Fault(kind="html"), BadResponse),
    (Fault(kind="empty"), BadResponse),
    (Fault(kind="null"), BadResponse),
    (Fault(kind="list"), BadResponse),
    (Fault(kind="no_choices"), BadResponse),
    (Fault(kind="null_choices"), BadResponse),
    (Fault(kind="error_in_200"), EndpointFailed),
    (Fault(kind="huge"), ResponseTooLarge),
    (Fault(kind="gzip_bomb", size=50_000_000), ResponseTooLarge),
    (Fault(kind="no_finish"), ResponseCut),
    (Fault(kind="content_filter"), RequestRefused),
    (Fault(kind="null_content"), BadResponse),
]
STREAMED = [
    (Fault(kind="cut_stream"), ResponseCut),
    (Fault(kind="cut_stream", chunks=6), ResponseCut),
    (Fault(kind="cut_event"), ResponseCut),
    (Fault(kind="half_body"), ResponseCut),
    (Fault(kind="done_without_finish"), ResponseCut),
    (Fault(kind="content_filter"), RequestRefused),
    (Fault(kind="stream_error"), EndpointFailed),
    (Fault(kind="null_content"), BadResponse),
    (Fault(kind="rate_limited"), RateLimited),
    (Fault(kind="server_error"), EndpointFailed),
    (Fault(kind="huge"), ResponseTooLarge),
    (Fault(kind="reset"), EndpointUnreachable),
]


class Wire:
    """A model at an endpoint, asked for a plan."""

    def __init__(self, endpoint: Endpoint, settings: ModelSettings) -> None:
        self.endpoint, self.settings = endpoint, settings

    async def request(self, *faults: Fault, **changes: Any) -> ModelReply[Plan]:
        """Ask for a plan while the endpoint has these faults, with other settings."""
        self.endpoint.load_scenario(Scenario(tasks=TASKS, faults=faults))
        model = ModelCatalog(replace(self.settings, **changes)).get_chat_model("strong")
        return await ask_model(model, Plan, [HumanMessage("plan it")])

    async def fail(self, *faults: Fault, **changes: Any) -> SupervisorError:
        """Do as `request`, and return the error it must end with."""
        with pytest.raises(SupervisorError) as raised:
            await self.request(*faults, **changes)
        return raised.value

    @property
    def calls(self) -> int:
        """How many requests have reached the endpoint."""
        return len(self.endpoint.requests)


@pytest.fixture
def wire(endpoint: Endpoint, model_settings: ModelSettings) -> Wire:
    return Wire(endpoint, model_settings)


def is_printable(error: SupervisorError) -> bool:
    """Return whether an error is short, and holds neither the key nor a page of HTML."""
    is_short = len(error.cause) <= 220 and "<" not in error.cause
    return is_short and KEY not in error.format_line() and error.__cause__ is None


@pytest.mark.parametrize(("fault", "expected"), PLAIN, ids=lambda v: getattr(v, "kind", ""))
async def test_a_fault_of_the_wire_is_a_typed_error(
    wire: Wire, fault: Fault, expected: type[SupervisorError]
) -> None:
    error = await wire.fail(fault)

    assert type(error) is expected and is_printable(error)
    assert wire.calls == 1


@pytest.mark.parametrize(("fault", "expected"), STREAMED, ids=lambda v: getattr(v, "kind", ""))
async def test_a_broken_stream_is_never_an_answer(
    wire: Wire, fault: Fault, expected: type[SupervisorError]
) -> None:
    error = await wire.fail(fault, streaming=True)

    assert type(error) is expected and is_printable(error)


@pytest.mark.parametrize(
    ("kind", "problem"), [("length", "was cut"), ("broken_arguments", "the JSON is broken")]
)
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_reply_that_is_cut_or_broken_goes_back_to_the_model_with_its_usage(
    wire: Wire, kind: FaultKind, problem: str, streaming: bool
) -> None:
    with pytest.raises(UnreadableReply, match=problem) as raised:
        await wire.request(Fault(kind=kind), streaming=streaming)

    assert raised.value.reply_text.startswith('{"goal": ')
    assert (raised.value.usage.model_calls, raised.value.usage.uncounted_calls) == (1, 0)
    assert raised.value.usage.output_tokens > 0
    assert wire.calls == 1


@pytest.mark.parametrize("kind", ["hang", "drip"])
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_call_ends_at_its_deadline_whatever_the_endpoint_does(
    wire: Wire, kind: FaultKind, streaming: bool
) -> None:
    fault = Fault(kind=kind)

    error = await wire.fail(fault, call_timeout_s=0.15, max_tries=3, streaming=streaming)

    assert isinstance(error, CallTimedOut) and wire.calls == 1


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_h10_an_endpoint_that_is_not_there_or_speaks_no_tls_is_named_with_a_remedy(
    wire: Wire, scheme: str
) -> None:
    port = 1 if scheme == "http" else wire.endpoint.port

    error = await wire.fail(base_url=f"{scheme}://127.0.0.1:{port}/v1")

    assert isinstance(error, EndpointUnreachable) and "doctor" in error.format_line()


@pytest.mark.parametrize(
    "kind",
    ["server_error", "half_body", "cut_stream", "broken_json", "error_in_200", "reset", "length"],
)
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_fault_that_passes_costs_one_more_try(
    wire: Wire, kind: FaultKind, streaming: bool
) -> None:
    made = await wire.request(Fault(kind=kind, nth=(1,)), max_tries=2, streaming=streaming)

    assert [task.id for task in made.value.tasks] == ["a", "b"] and wire.calls == 2


@pytest.mark.parametrize(
    ("kind", "calls"),
    [("quota", 1), ("context_length", 1), ("unauthorized", 1), ("unknown_model", 1), ("html", 2)],
)
async def test_a_fault_that_stays_is_not_tried_again_and_an_unusable_answer_once(
    wire: Wire, kind: FaultKind, calls: int
) -> None:
    await wire.fail(Fault(kind=kind), max_tries=5)

    assert wire.calls == calls


@pytest.mark.parametrize("kind", ["no_usage", "zero_usage", "bad_usage"])
@pytest.mark.parametrize("streaming", [False, True])
async def test_usage_that_is_missing_or_absurd_is_estimated_from_the_bytes_and_says_so(
    wire: Wire, kind: FaultKind, streaming: bool
) -> None:
    reply = await wire.request(Fault(kind=kind), streaming=streaming)

    (call,) = wire.endpoint.requests
    assert (reply.usage.model_calls, reply.usage.uncounted_calls) == (1, 1)
    assert call.body_bytes / 8 < reply.usage.input_tokens < call.body_bytes / 2
    assert len(json.dumps(reply.value.model_dump(mode="json"))) / 8 < reply.usage.output_tokens
    assert reply.usage.cost_usd
