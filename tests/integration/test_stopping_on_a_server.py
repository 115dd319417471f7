"""A client of `langgraph dev` stops one task of a run at work."""

import asyncio

import pytest
from langgraph_sdk.client import LangGraphClient

from extensions.server.runs import aload_server_trace
from extensions.server.runs_command import astop_on_server
from graph.runs.stopping import NothingToStop
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask
from tests.integration.dev_server import REQUEST, TEAM, DevServer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("langgraph_dev")]

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
