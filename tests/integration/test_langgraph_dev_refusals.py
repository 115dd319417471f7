"""What `langgraph dev` refuses, and how a client stops one task of a run at work."""

import asyncio
import json
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import UnprocessableEntityError

from extensions.server.runs import aload_server_trace
from extensions.server.runs_command import astop_on_server
from graph.runs.stopping import NothingToStop
from nodes.limits.run_scope import SCOPE_KEY
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask
from tests.integration.dev_server import REQUEST, TEAM, DevServer, run_to_end

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("langgraph_dev")]


async def test_an_empty_request_is_refused_in_words(
    client: LangGraphClient, thread: str, played: Endpoint
):
    ended = await run_to_end(client, thread, {"request": " "})

    assert ended["__error__"] == {"error": "RequestInvalid", "message": "empty request"}
    assert not played.requests


async def test_what_a_run_keeps_for_itself_is_taken_from_no_client(
    client: LangGraphClient, thread: str, played: Endpoint
):
    for junk in ("yesterday", 0, {"began_at": 1.0}, [1], True):
        config: Any = {"configurable": {SCOPE_KEY: junk}}

        with pytest.raises(UnprocessableEntityError, match=SCOPE_KEY):
            await client.runs.create(thread, TEAM, input=REQUEST, config=config)

    assert await client.runs.list(thread) == []
    assert not played.requests


async def test_an_unknown_setting_in_a_context_is_refused_before_a_run_is_made(
    client: LangGraphClient, thread: str, played: Endpoint
):
    for context in ({"max_token": 5}, {"max_steps": -1}):
        with pytest.raises(UnprocessableEntityError) as refused:
            await client.runs.create(thread, TEAM, input=REQUEST, context=context)
        assert next(iter(context)) in str(refused.value)
    with pytest.raises(UnprocessableEntityError, match="did you mean 'max_steps'"):
        config: Any = {"configurable": {"max_step": 0}}
        await client.runs.create(thread, TEAM, input=REQUEST, config=config)

    assert await client.runs.list(thread) == []
    assert not played.requests


STUDIO = "https://smith.langchain.com"
ASKED = {"assistant_id": TEAM, "input": REQUEST}


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("POST", {"Origin": "http://evil.test", "Content-Type": "application/json"}),
        ("POST", {"Origin": "http://evil.test", "Content-Type": "text/plain"}),
        ("POST", {"Origin": "http://localhost:3000", "Content-Type": "text/plain"}),
        ("POST", {"Origin": "null", "Content-Type": "text/plain"}),
        ("POST", {"Origin": f"{STUDIO}.evil.test", "Content-Type": "text/plain"}),
        ("POST", {"Host": "evil.test", "Content-Type": "text/plain"}),
        ("POST", {"Host": "evil.test", "Origin": "http://evil.test", "Content-Type": "text/plain"}),
        ("OPTIONS", {"Origin": "http://evil.test", "Access-Control-Request-Method": "POST"}),
    ],
)
def test_another_page_or_another_name_starts_nothing_and_reads_nothing(
    server: DevServer, played: Endpoint, method: str, headers: dict[str, str]
):
    status, answered, text = server.send_request(method, "/runs/wait", json.dumps(ASKED), headers)

    assert status == 403
    assert "access-control-allow-origin" not in answered
    assert "this server" in text and "answer" not in text
    assert not played.requests


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": STUDIO}, {"Origin": "https://eu.smith.langchain.com"}, {"Host": "localhost"}],
)
def test_studio_and_programs_are_served(
    server: DevServer, played: Endpoint, headers: dict[str, str]
):
    kind = {"Content-Type": "application/json"}

    status, answered, text = server.send_request(
        "POST", "/runs/wait", json.dumps(ASKED), kind | headers
    )

    assert (status, json.loads(text)["status"]) == (200, "done")
    assert ("access-control-allow-origin" in answered) == ("Origin" in headers)


def test_studio_may_ask_before_it_sends(server: DevServer):
    asked = {
        "Origin": STUDIO,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }

    status, answered, _ = server.send_request("OPTIONS", "/runs/wait", "", asked)

    assert status == 200
    assert answered["access-control-allow-origin"] in ("*", STUDIO)


SCENARIO = Scenario(
    tasks=(ScriptedTask(id="A"), ScriptedTask(id="B")),
    faults=(Fault(kind="hang", schema="Report", task="A"),),
)


async def test_a_task_is_stopped_and_the_others_answer(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    played.load_scenario(SCENARIO)
    run = await client.runs.create(thread, TEAM, input=REQUEST)
    while not played.select_calls(schema="Report", task="A"):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.1)
    await asyncio.sleep(0.5)  # the trace is kept in batches

    ended = await astop_on_server(thread, server.url, "A")
    await client.runs.join(thread, run["run_id"])
    trace = await aload_server_trace(thread, server.url)

    assert ended == {"A": "stopped"}
    assert trace["run"]["status"] == "partial"
    assert {task["id"]: task["status"] for task in trace["tasks"]} == {
        "A": "failed",
        "B": "completed",
    }
    with pytest.raises(NothingToStop):
        await astop_on_server(thread, server.url, "A")
