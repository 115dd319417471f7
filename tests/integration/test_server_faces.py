"""A run ends whatever quirk its server has: of the protocol, or in too many tool calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from graph import arun, build_supervisor
from graph.runs.trace import load_trace
from graph.settings import Settings
from nodes.schemas.team import Team, Worker
from supervisor_worker.testing.endpoint.faults import Face
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.runs import REQUEST, Runs
from tests.teams import make_team

pytestmark = pytest.mark.slow

TOOL_CALLS = (("calculate", {"expression": "6 * 7"}),)
TASKS = tuple(
    ScriptedTask(id=name, depends_on=needed, tool_calls=TOOL_CALLS)
    for name, needed in {"a": (), "b": ("a",), "c": ("a",)}.items()
)
USUAL_CALLS = 2 + 2 * len(TASKS)
"""The plan, the answer, and two turns of each task."""


@dataclass(frozen=True, kw_only=True)
class FaceRow:
    """What a server's quirks cost the first run, and what its trace says of them."""

    faces: tuple[Face, ...]
    refused: Mapping[str, int] = field(default_factory=dict)
    """Requests that the server refused until a method was found, by schema."""
    refused_in_stream: Mapping[str, int] | None = None
    methods: frozenset[tuple[str, str]] = frozenset()
    """Purpose and method that the trace says are used from then on."""
    corrections: Sequence[str] = ()
    """What the trace says of replies, each."""


ROWS = {
    "none": FaceRow(faces=()),
    "strict_tool_choice": FaceRow(faces=("strict_tool_choice",)),
    "no_required": FaceRow(
        faces=("no_required",), refused={"Report": 1}, methods=frozenset({("tools", "json_schema")})
    ),
    "grammar_400": FaceRow(faces=("grammar_400",)),
    "no_response_format": FaceRow(
        faces=("no_response_format",),
        refused={"Plan": 1, "Answer": 1},
        methods=frozenset({("value", "required_tool")}),
    ),
    "no_required and no_response_format": FaceRow(
        faces=("no_required", "no_response_format"),
        refused={"Plan": 2, "Report": 2, "Answer": 2},
        methods=frozenset({("value", "json_prompt"), ("tools", "json_prompt")}),
    ),
    "text_tool_call": FaceRow(
        faces=("text_tool_call",),
        methods=frozenset({("tools", "json_schema")}),
        corrections=["was written as text"],
    ),
    "text_tool_call and no_response_format": FaceRow(
        faces=("text_tool_call", "no_response_format"),
        refused={"Plan": 1, "Report": 1, "Answer": 1},
        methods=frozenset(
            {("value", "json_prompt"), ("tools", "json_schema"), ("tools", "json_prompt")}
        ),
        corrections=["was written as text"],
    ),
    "think_prefix": FaceRow(faces=("think_prefix",), corrections=["thoughts before the reply"]),
    "double_json": FaceRow(
        faces=("double_json",), corrections=["of calculate were encoded twice", "inside other text"]
    ),
    "no_stream_options": FaceRow(
        faces=("no_stream_options",),
        refused_in_stream={"Plan": 1, "Report": 1},
        methods=frozenset({("value", "json_schema"), ("tools", "required_tool")}),
    ),
}


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
async def test_a_quirk_costs_the_first_run_a_call_a_method_and_later_runs_nothing(
    row: FaceRow, is_streamed: bool, endpoint: Endpoint, settings: Settings
):
    endpoint.load_scenario(Scenario(tasks=TASKS, faces=row.faces))
    settings = settings.model_copy(update={"stream": is_streamed})
    refused = row.refused
    if row.refused_in_stream is not None:
        refused = row.refused_in_stream if is_streamed else {}
    methods = row.methods if refused or row.corrections else frozenset()

    events = await run_request(settings)

    assert count_refused(endpoint) == refused
    assert len(endpoint.requests) == USUAL_CALLS + sum(refused.values())
    assert {(e["purpose"], e["method"]) for e in list_events(events, "output_method")} == methods
    corrections = [
        words for e in list_events(events, "model_call") for words in e.get("corrections") or ()
    ]
    assert bool(corrections) == bool(row.corrections)
    assert all(any(said in words for words in corrections) for said in row.corrections)

    endpoint.requests.clear()
    events = await run_request(settings)

    assert len(endpoint.requests) == USUAL_CALLS
    assert not list_events(events, "output_method")


async def test_what_a_server_refuses_is_named_in_the_trace(runs: Runs):
    runs.script(*TASKS, faces=("no_stream_options", "no_required"))

    events = await run_request(runs.settings.model_copy(update={"stream": True}))

    reasons = [r for e in list_events(events, "output_method") for r in e["reasons"]]
    assert any("stream_usage was refused: 400 Unrecognized" in reason for reason in reasons)
    assert any("required_tool was refused: 400 Thinking mode" in reason for reason in reasons)


async def run_request(settings: Settings) -> list[Mapping[str, Any]]:
    outcome = await arun(REQUEST, team=make_calculating_team(), settings=settings)
    assert (outcome.status, outcome.exit_code) == ("done", 0)
    assert {report.status for report in outcome.results.values()} == {"completed"}
    events: list[Mapping[str, Any]] = load_trace(outcome.thread, settings)["events"]
    assert [e["error"] for e in list_events(events, "tool_call")] == [None] * len(TASKS)
    return events


def make_calculating_team() -> Team:
    worker = Worker(
        name="researcher", description="Computes.", instructions="Work.", tools=("calculate",)
    )
    return make_team().model_copy(update={"workers": (worker,)})


def list_events(events: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [event for event in events if event["kind"] == kind]


def count_refused(endpoint: Endpoint) -> dict[str, int]:
    refused = [call.schema for call in endpoint.requests if call.fault == "refused"]
    return {schema: refused.count(schema) for schema in refused}


async def test_h25_of_twenty_calls_in_one_turn_eight_are_made_and_all_are_answered_in_order(
    runs: Runs,
):
    runs.script(script_sums(20))

    state = await runs.build_graph(make_computing_team()).ainvoke({"request": REQUEST})

    body = runs.select_calls(task="a")[-1].body
    heard = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    assert state["results"]["a"].status == "completed"
    assert len(heard) == 20
    assert all(str(1000 + n) in text for n, text in enumerate(heard[:8]))
    assert all("only 8 calls" in text for text in heard[8:])


@pytest.mark.parametrize(("call_id", "streaming"), [("call_1", True), ("", False)])
async def test_of_calls_that_share_one_id_no_more_are_made_than_of_others(
    endpoint: Endpoint, settings: Settings, call_id: str, streaming: bool
):
    task = script_sums(100, call_id=call_id)
    endpoint.load_scenario(Scenario(tasks=(task,)))
    settings = settings.model_copy(update={"stream": streaming})

    state = await build_supervisor(make_computing_team(), settings=settings).ainvoke(
        {"request": REQUEST}
    )

    body = endpoint.select_calls(task="a")[-1].body
    heard = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    assert state["results"]["a"].status == "completed"
    assert len(heard) == 100
    assert [n for n, text in enumerate(heard) if "only 8 calls" not in text] == list(range(8))


async def test_an_answer_with_thousands_of_calls_is_refused_and_none_is_made(runs: Runs):
    runs.script(script_sums(5000))
    streaming = runs.with_settings(stream=True)

    state = await streaming.build_graph(make_computing_team(max_attempts=1)).ainvoke(
        {"request": REQUEST}
    )

    assert "more than 128 tool calls in one answer" in state["results"]["a"].error
    assert {len(call.body["messages"]) for call in runs.select_calls(task="a")} == {2}


def script_sums(count: int, **more: Any) -> ScriptedTask:
    calls = tuple(("calculate", {"expression": f"{n} + 1000"}) for n in range(count))
    return ScriptedTask(id="a", worker="analyst", tool_calls=calls, calls_a_turn=count, **more)


def make_computing_team(**fields: Any) -> Team:
    analyst = Worker(
        name="analyst", description="Computes.", instructions="Compute.", tools=("calculate",)
    )
    return make_team(**fields).model_copy(update={"workers": (analyst,)})
