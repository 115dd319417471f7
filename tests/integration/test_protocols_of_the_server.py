"""/mcp, /a2a and the chat of langgraph dev, as clients of these protocols use them."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.helpers import new_data_part, new_message, new_raw_part, new_text_part
from a2a.types import a2a_pb2 as protocol
from a2a.utils.errors import ContentTypeNotSupportedError, TaskNotFoundError
from langgraph_sdk.client import LangGraphClient
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.endpoint import Endpoint, Scenario
from tests.integration.dev_server import PARTS, QUESTION, TEAM, DevServer
from tests.integration.mcp_clients import read_text

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("langgraph_dev")]

ANSWER = "The answer, from A.md, B.md"


@asynccontextmanager
async def connect_mcp(server: DevServer) -> AsyncIterator[ClientSession]:
    async with (
        streamable_http_client(f"{server.url}/mcp") as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def connect_a2a(
    server: DevServer, assistant: str, *, streaming: bool
) -> AsyncIterator[Client]:
    async with httpx.AsyncClient(timeout=60) as http:
        path = f"/.well-known/agent-card.json?assistant_id={assistant}"
        card = await A2ACardResolver(http, server.url, agent_card_path=path).get_agent_card()
        yield ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)


async def find_assistant(client: LangGraphClient) -> str:
    """Return the assistant that the server makes for the team."""
    found = await client.assistants.search(graph_id=TEAM, metadata={"created_by": "system"})
    return str(found[0]["assistant_id"])


async def send(
    client: Client, *parts: Any, task: protocol.Task | None = None, thread: str = ""
) -> protocol.Task:
    """Send a message; return the task with what it has come to."""
    message = new_message(list(parts), role=protocol.ROLE_USER)
    if task is not None:
        message.task_id, message.context_id = task.id, task.context_id
    elif thread:
        message.context_id = thread
    request = protocol.SendMessageRequest(message=message)
    sent = [reply.task async for reply in client.send_message(request) if reply.HasField("task")]
    return await client.get_task(protocol.GetTaskRequest(id=sent[0].id))


async def test_a_tool_call_over_mcp_returns_answer_and_sources_and_no_material(
    server: DevServer, played: Endpoint
):
    async with connect_mcp(server) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        given = {"request": QUESTION, "materials": {"a.md": "Alpha is the only secret word."}}
        result = await session.call_tool(TEAM, given)

    fields = tools[TEAM].inputSchema["properties"]
    assert set(fields) == {"request", "messages", "materials"} and fields["request"]["description"]
    assert not result.isError and ANSWER in read_text(result)
    fields = result.structuredContent or {}
    assert fields["status"] == "done" and fields["answer"]["sources"] == ["A.md", "B.md"]
    assert "secret word" not in read_text(result)


async def test_wrong_arguments_over_mcp_are_told_in_a_line(server: DevServer, played: Endpoint):
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "empty request"),
        ({"request": 5}, "request must be a string"),
        ({"request": "x", "materials": {"a": 1}}, "materials must map names to strings"),
    ]
    async with connect_mcp(server) as session:
        for given, said in wrong:
            result = await session.call_tool(TEAM, given)
            assert result.isError and said in read_text(result) and "next:" in read_text(result)

    assert not played.requests


async def test_a_message_over_a2a_is_answered_and_its_data_part_holds_the_materials(
    server: DevServer, client: LangGraphClient, played: Endpoint
):
    async with connect_a2a(server, await find_assistant(client), streaming=False) as agent:
        given = new_data_part({"materials": {"a.md": "# A"}})
        task = await send(agent, new_text_part(QUESTION), given)
        further = await send(agent, new_text_part("And the worst?"), thread=task.context_id)
        with pytest.raises(ContentTypeNotSupportedError):
            await send(agent, new_raw_part(b"# A", "text/markdown", "a.md"))

    state = await client.threads.get_state(task.context_id)
    assert task.status.state == protocol.TASK_STATE_COMPLETED
    assert task.history[-1].parts[0].text.startswith(ANSWER)
    assert further.status.state == protocol.TASK_STATE_COMPLETED
    assert further.context_id == task.context_id
    assert isinstance(state["values"], dict) and state["values"]["materials"] == {"a.md": "# A"}


async def test_after_a_stream_over_a2a_the_task_has_its_answer(
    server: DevServer, client: LangGraphClient, played: Endpoint
):
    async with connect_a2a(server, await find_assistant(client), streaming=True) as agent:
        task = await send(agent, new_text_part(QUESTION))

    assert task.status.state == protocol.TASK_STATE_COMPLETED
    assert task.history[-1].parts[0].text.startswith(ANSWER)


@pytest.mark.parametrize(
    "reply",
    [new_text_part("accept"), new_data_part({"resume": {"decisions": [{"type": "approve"}]}})],
)
async def test_a_plan_is_approved_over_a2a(
    server: DevServer, client: LangGraphClient, played: Endpoint, reply: Any
):
    asking = await client.assistants.create(TEAM, context={"approve_plan": True})
    async with connect_a2a(server, asking["assistant_id"], streaming=False) as agent:
        waits = await send(agent, new_text_part(QUESTION))
        ended = await send(agent, reply, task=waits)

    assert waits.status.state == protocol.TASK_STATE_INPUT_REQUIRED
    assert ended.status.state == protocol.TASK_STATE_COMPLETED


async def test_a_task_that_waits_is_cancelled_over_a2a_and_wrong_ids_are_refused(
    server: DevServer, client: LangGraphClient, played: Endpoint
):
    asking = await client.assistants.create(TEAM, context={"approve_plan": True})
    async with connect_a2a(server, asking["assistant_id"], streaming=False) as agent:
        waits = await send(agent, new_text_part(QUESTION))
        ended = await agent.cancel_task(protocol.CancelTaskRequest(id=waits.id))
        for call in (
            agent.get_task(protocol.GetTaskRequest(id="none")),
            agent.cancel_task(protocol.CancelTaskRequest(id="none")),
            send(agent, new_text_part("accept"), task=protocol.Task(id="none", context_id="none")),
        ):
            with pytest.raises(TaskNotFoundError):
                await call

    assert ended.status.state == protocol.TASK_STATE_CANCELED


DOCUMENT = "a line of the document\n" * 4500
TEXT = " ".join(["Part A is the best of the parts, as its three figures show."] * 8)
SCENARIO = Scenario(tasks=PARTS, answers={"Answer": {"text": TEXT}}, chunk_delay_s=0.02)


def attach(name: str, media_type: str, content: str) -> dict[str, Any]:
    """Return a file as agent-chat-ui sends it."""
    encoded = b64encode(content.encode()).decode()
    kind = "image" if media_type.startswith("image/") else "file"
    return {"type": kind, "mimeType": media_type, "data": encoded, "metadata": {"filename": name}}


async def test_a_message_with_files_streams_one_answer_and_keeps_the_wire_small(
    client: LangGraphClient, thread: str, played: Endpoint
):
    played.load_scenario(SCENARIO)
    content = [
        {"type": "text", "text": QUESTION},
        attach("notes.txt", "text/plain", DOCUMENT),
        attach("chart.png", "image/png", "a picture"),
    ]

    sizes, texts, values = Counter[str](), dict[str, str](), dict[str, Any]()
    async for part in client.runs.stream(
        thread,
        TEAM,
        input={"messages": [{"type": "human", "content": content}]},  # type: ignore[dict-item]  # its type knows no messages
        stream_mode=["values", "messages-tuple"],
    ):
        data: Any = part.data
        sizes[part.event] += len(json.dumps(data))
        if part.event == "messages":
            texts[data[0]["id"]] = texts.get(data[0]["id"], "") + data[0]["content"]
        elif part.event == "values":
            values = data

    last = values["messages"][-1]
    assert texts == {last["id"]: last["content"]} and last["content"].startswith(TEXT)
    assert "not read: chart.png (pictures" in last["content"] and values["status"] == "partial"
    assert sizes["values"] < 30_000 and sizes["messages"] < 30_000
    state: Any = (await client.threads.get_state(thread))["values"]
    assert state["materials"] == {"notes.txt": DOCUMENT}
    assert state["messages"][0]["content"] == QUESTION
