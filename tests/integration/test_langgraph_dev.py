"""`langgraph dev`, driven as Studio and other clients do, through the SDK."""

import json
from collections import defaultdict
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import BadRequestError, ConflictError

from state import Context
from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.integration.dev_server import (
    PARTS,
    REQUEST,
    ROOT,
    TEAM,
    DevServer,
    ServerContext,
    run_to_end,
)

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("langgraph_dev")]
"""One server at a time, also when tests run in parallel."""

EXAMPLE = Path(__file__).parents[2] / "teams" / TEAM / "sample"
EMBEDDED = {f"model_{tier}": "embedded" for tier in ("fast", "standard", "strong")}


async def test_every_shipped_team_is_listed(client: LangGraphClient):
    found = await client.assistants.search(limit=100)

    listed = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert sorted(assistant["graph_id"] for assistant in found) == sorted(listed)
    assert sorted(listed) == sorted(team.parent.name for team in ROOT.glob("teams/*/team.md"))


async def test_the_forms_ask_for_a_request_and_for_the_settings_of_a_run(client: LangGraphClient):
    schemas = await client.assistants.get_schemas(await find_assistant(client))

    asked, settings = schemas["input_schema"], schemas["context_schema"]
    assert asked and list(asked["properties"]) == ["request", "messages", "materials"]
    assert settings and set(settings["properties"]) == {field.name for field in fields(Context)}


async def test_a_run_streams_what_its_workers_do_and_ends_with_an_answer(
    client: LangGraphClient, thread: str, played: Endpoint
):
    parts = defaultdict(list)
    async for part in client.runs.stream(
        thread,
        TEAM,
        input=REQUEST,
        stream_mode=["values", "updates", "custom", "messages-tuple", "events"],
        stream_subgraphs=True,
    ):
        parts[part.event.partition(":")[0]].append(part.data)

    assert "error" not in parts
    steps = [next(iter(update)) for update in parts["updates"]]
    assert steps[0] == "supervisor" and steps[-2:] == ["supervisor", "synthesizer"]
    assert sorted(steps[1:-2]) == ["monitor", "researcher", "researcher"]
    assert {"await_inputs", "act", "assess"} <= {n for u in parts["updates|researcher"] for n in u}
    kinds = [event["kind"] for event in parts["custom|researcher"]]
    assert kinds.count("task_started") == kinds.count("report") == 2
    assert parts["messages"] and parts["events"]
    assert parts["values"][-1]["answer"]["text"] == "The answer, from A.md, B.md"


async def test_a_run_without_a_thread_ends_with_an_answer_and_warns_of_nothing(
    client: LangGraphClient, server: DevServer, played: Endpoint
):
    known = len(server.read_log())

    ended = await client.runs.wait(None, TEAM, input=REQUEST)

    assert isinstance(ended, dict) and ended["status"] == "done"
    warnings = [line for line in server.read_log()[known:].splitlines() if "[warning" in line]
    assert not [line for line in warnings if "langgraph/" in line or "Deserializing" in line]


async def test_a_run_without_a_thread_that_would_ask_a_human_is_refused_unpaid(
    client: LangGraphClient, played: Endpoint
):
    ended = await client.runs.wait(
        None, TEAM, input=REQUEST, context={"approve_plan": True}, raise_error=False
    )

    assert isinstance(ended, dict) and "checkpointer" in str(ended["__error__"])
    assert not played.requests


async def test_a_threads_state_is_the_contracts_as_json(
    client: LangGraphClient, thread: str, played: Endpoint
):
    await run_to_end(client, thread, REQUEST, context={"max_tokens": 100_000, "deadline_s": 60})

    state = await client.threads.get_state(thread)

    values = state["values"]
    assert isinstance(values, dict)
    assert {"request", "plan", "plans", "results", "answer", "messages", "status", "usage"} <= set(
        values
    )
    assert values["results"]["B"]["claims"][0]["source"] == "B.md"
    assert json.loads(json.dumps(values)) == values
    assert "budget" not in str(state["metadata"])


async def test_a_cancelled_run_goes_on_without_repeating_what_was_done(
    client: LangGraphClient, thread: str, played: Endpoint
):
    played.load_scenario(
        Scenario(tasks=script_tasks({"A": (), "B": ("A",)}, latency_s={"B": 60.0}))
    )
    async for part in client.runs.stream(
        thread, TEAM, input=REQUEST, stream_mode="custom", stream_subgraphs=True
    ):
        if part.event == "metadata":
            begun = part.data["run_id"]
        elif (part.data or {}).get("kind") == "task_started" and part.data["task"] == "B":
            await client.runs.cancel(thread, begun, wait=True)
    stopped = await client.threads.get(thread)
    played.load_scenario(Scenario(tasks=PARTS))

    ended = await run_to_end(client, thread, None)

    assert stopped["status"] == "interrupted"
    assert ended["status"] == "done"
    assert {name: report["status"] for name, report in ended["results"].items()} == {
        "A": "completed",
        "B": "completed",
    }
    assert [len(played.select_calls(schema="Plan")), len(played.select_calls(task="A"))] == [1, 1]


@pytest.mark.parametrize(
    ("on_disconnect", "status"), [("cancel", "interrupted"), ("continue", "success")]
)
async def test_x05_a_client_that_goes_away_ends_its_run_or_does_not_as_it_said(
    client: LangGraphClient, thread: str, played: Endpoint, on_disconnect: Any, status: str
):
    latency_s = 60.0 if on_disconnect == "cancel" else 1.0
    played.load_scenario(
        Scenario(tasks=script_tasks({"A": (), "B": ("A",)}, latency_s={"B": latency_s}))
    )

    stream = client.runs.stream(
        thread, TEAM, input=REQUEST, stream_mode="custom", on_disconnect=on_disconnect
    )
    async for part in stream:
        if part.event == "metadata":
            begun = part.data["run_id"]
        elif (part.data or {}).get("kind") == "dispatched":
            break
    await stream.aclose()  # type: ignore[attr-defined]
    await client.runs.join(thread, begun)
    ended = await client.runs.get(thread, begun)
    if status == "interrupted":
        played.load_scenario(Scenario(tasks=PARTS))
        await run_to_end(client, thread, None)

    values: Any = (await client.threads.get_state(thread))["values"]
    assert ended["status"] == status
    assert values["status"] == "done"
    assert len(played.select_calls(schema="Plan")) == 1


async def test_a_plan_edited_in_studio_is_checked_and_run(
    client: LangGraphClient, thread: str, played: Endpoint
):
    shown = await run_to_end(client, thread, REQUEST, context={"approve_plan": True})
    plan = shown["plan"]
    cyclic = {**plan, "tasks": [{**task, "depends_on": ["B"]} for task in plan["tasks"]]}
    shorter = {**plan, "tasks": plan["tasks"][:1]}

    with pytest.raises(BadRequestError, match="depends on itself"):
        await client.threads.update_state(thread, {"plan": cyclic}, as_node="approval")
    edit = {"plan": shorter, "awaits_approval": False}
    await client.threads.update_state(thread, edit, as_node="approval")
    ended = await run_to_end(client, thread, None)

    assert (ended["status"], set(ended["results"])) == ("done", {"A"})


async def test_a_second_run_of_a_busy_thread_is_rejected(
    client: LangGraphClient, thread: str, played: Endpoint
):
    played.load_scenario(Scenario(tasks=PARTS, latency_s={"Plan": 60.0}))
    first = await client.runs.create(thread, TEAM, input=REQUEST)

    with pytest.raises(ConflictError):
        await client.runs.create(thread, TEAM, input=REQUEST, multitask_strategy="reject")

    await client.runs.cancel(thread, first["run_id"], wait=True)


async def test_the_embedded_model_works_the_example_with_its_own_tools(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    given = {
        "request": "Compare the market capitalization of the top 3 cloud providers with "
        "year-over-year growth",
        "materials": {path.name: path.read_text() for path in EXAMPLE.iterdir()},
        "messages": None,
    }

    ended = await run_to_end(client, thread, given, context=EMBEDDED)

    assert ended["status"] == "done"
    assert "3,133.4" in ended["answer"]["text"]
    assert not played.requests
    assert "BlockingError" not in server.read_log()


async def test_types_are_read_strictly_and_no_run_and_no_span_is_sent_to_a_collector(
    client: LangGraphClient, thread: str, played: Endpoint, surroundings: ServerContext
):
    """LangGraph's server sends its own counts of use where it finds a key of LangSmith."""
    await run_to_end(client, thread, REQUEST)

    assert "unregistered type" not in surroundings.server.read_log()
    sent = surroundings.sent_to_langsmith
    assert not [path for path in sent if "/runs" in path or "/v1/traces" in path]


async def find_assistant(client: LangGraphClient) -> str:
    (found,) = await client.assistants.search(graph_id=TEAM)
    return found["assistant_id"]
