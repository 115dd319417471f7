"""Each fault of the wire becomes one typed error, and never an answer."""

import json
from dataclasses import replace

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
from nodes.models.structured_output import UnreadableReply, ask_model
from state import Plan
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


async def request_plan(settings: ModelSettings) -> Plan:
    model = ModelCatalog(settings).get_chat_model("strong")
    return (await ask_model(model, Plan, [HumanMessage("plan it")])).value


@pytest.mark.parametrize(("fault", "expected"), PLAIN, ids=lambda v: getattr(v, "kind", ""))
async def test_a_fault_of_the_wire_is_a_typed_error(
    endpoint: Endpoint, model_settings: ModelSettings, fault: Fault, expected: type[SupervisorError]
) -> None:
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(fault,)))

    with pytest.raises(expected) as raised:
        await request_plan(model_settings)

    assert type(raised.value) is expected
    assert_printable(raised.value)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(("fault", "expected"), STREAMED, ids=lambda v: getattr(v, "kind", ""))
async def test_a_broken_stream_is_never_an_answer(
    endpoint: Endpoint, model_settings: ModelSettings, fault: Fault, expected: type[SupervisorError]
) -> None:
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(fault,)))

    with pytest.raises(expected) as raised:
        await request_plan(replace(model_settings, streaming=True))

    assert type(raised.value) is expected
    assert_printable(raised.value)


@pytest.mark.parametrize(
    ("kind", "problem"), [("length", "was cut"), ("broken_arguments", "the JSON is broken")]
)
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_reply_that_is_cut_or_broken_goes_back_to_the_model_with_its_usage(
    endpoint: Endpoint, model_settings: ModelSettings, kind: str, problem: str, streaming: bool
) -> None:
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(Fault(kind=kind),)))  # type: ignore[arg-type]

    with pytest.raises(UnreadableReply, match=problem) as raised:
        await request_plan(replace(model_settings, streaming=streaming))

    assert raised.value.reply_text.startswith('{"goal": ')
    assert (raised.value.usage.model_calls, raised.value.usage.uncounted_calls) == (1, 0)
    assert raised.value.usage.output_tokens > 0
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("kind", ["hang", "drip"])
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_call_ends_at_its_deadline_whatever_the_endpoint_does(
    endpoint: Endpoint, model_settings: ModelSettings, kind: str, streaming: bool
) -> None:
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(Fault(kind=kind),)))  # type: ignore[arg-type]
    settings = replace(model_settings, call_timeout_s=0.15, max_tries=3, streaming=streaming)

    with pytest.raises(CallTimedOut):
        await request_plan(settings)

    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_h10_an_endpoint_that_is_not_there_or_speaks_no_tls_is_named_with_a_remedy(
    endpoint: Endpoint, model_settings: ModelSettings, scheme: str
) -> None:
    port = 1 if scheme == "http" else endpoint.port
    unreachable = replace(model_settings, base_url=f"{scheme}://127.0.0.1:{port}/v1")

    with pytest.raises(EndpointUnreachable) as raised:
        await request_plan(unreachable)

    assert "doctor" in raised.value.format_line()


@pytest.mark.parametrize(
    "kind",
    ["server_error", "half_body", "cut_stream", "broken_json", "error_in_200", "reset", "length"],
)
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_fault_that_passes_costs_one_more_try(
    endpoint: Endpoint, model_settings: ModelSettings, kind: str, streaming: bool
) -> None:
    fault = Fault(kind=kind, nth=(1,))  # type: ignore[arg-type]
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(fault,)))

    made = await request_plan(replace(model_settings, max_tries=2, streaming=streaming))

    assert [task.id for task in made.tasks] == ["a", "b"]
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("kind", ["quota", "context_length", "unauthorized", "unknown_model"])
async def test_a_fault_that_stays_is_not_tried_again(
    endpoint: Endpoint, model_settings: ModelSettings, kind: str
) -> None:
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(Fault(kind=kind),)))  # type: ignore[arg-type]

    with pytest.raises(SupervisorError):
        await request_plan(replace(model_settings, max_tries=5))

    assert len(endpoint.requests) == 1


async def test_an_unusable_answer_is_asked_for_once_more_only(
    endpoint: Endpoint, model_settings: ModelSettings
) -> None:
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(Fault(kind="html"),)))

    with pytest.raises(BadResponse):
        await request_plan(replace(model_settings, max_tries=5))

    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("kind", ["no_usage", "zero_usage", "bad_usage"])
@pytest.mark.parametrize("streaming", [False, True])
async def test_usage_that_is_missing_or_absurd_is_estimated_from_the_bytes_and_says_so(
    endpoint: Endpoint, model_settings: ModelSettings, kind: str, streaming: bool
) -> None:
    endpoint.load_scenario(Scenario(tasks=TASKS, faults=(Fault(kind=kind),)))  # type: ignore[arg-type]
    model = ModelCatalog(replace(model_settings, streaming=streaming)).get_chat_model("fast")

    reply = await ask_model(model, Plan, [HumanMessage("plan it")])

    (call,) = endpoint.requests
    assert (reply.usage.model_calls, reply.usage.uncounted_calls) == (1, 1)
    assert call.body_bytes / 8 < reply.usage.input_tokens < call.body_bytes / 2
    assert len(json.dumps(reply.value.model_dump(mode="json"))) / 8 < reply.usage.output_tokens
    assert reply.usage.cost_usd


def assert_printable(error: SupervisorError) -> None:
    assert KEY not in error.format_line()
    assert "<" not in error.cause
    assert len(error.cause) <= 220
    assert error.__cause__ is None
