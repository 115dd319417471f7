"""A chat with the development server: files, the streamed answer, and its MCP endpoint."""

import json
from base64 import b64encode
from collections import Counter
from typing import Any

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient

from tests.endpoint import Endpoint, Scenario
from tests.integration.dev_server import PARTS, QUESTION, TEAM, DevServer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("langgraph_dev")]

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


async def test_a_tool_call_of_an_mcp_client_returns_the_answer(server: DevServer, played: Endpoint):
    played.load_scenario(SCENARIO)
    arguments = {"request": QUESTION, "materials": {"notes.txt": DOCUMENT}}
    call = {"name": TEAM, "arguments": arguments}

    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        listed = await _ask(http, "tools/list", {})
        answered = await _ask(http, "tools/call", call)
        refused = await _ask(http, "tools/call", {"name": TEAM, "arguments": {}})

    tool = next(each for each in listed["tools"] if each["name"] == TEAM)
    assert all(each["description"] for each in tool["inputSchema"]["properties"].values())
    assert answered["content"][0]["text"].startswith(TEXT) and len(str(answered)) < 5_000
    assert answered["structuredContent"]["status"] == "done"
    assert refused["isError"]


async def _ask(http: httpx.AsyncClient, method: str, params: dict[str, Any]) -> Any:
    reply = await http.post(
        "/mcp",
        headers={"accept": "application/json"},
        json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
    )
    return reply.json()["result"]
