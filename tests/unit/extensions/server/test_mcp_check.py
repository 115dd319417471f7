"""What the server's `/mcp` is asked is checked before it runs."""

import json
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from extensions.server.mcp_check import McpCheckMiddleware


async def echo(request: Request) -> JSONResponse:
    """Return what has passed the check."""
    return JSONResponse({"passed": (await request.body()).decode()})


CLIENT = TestClient(
    Starlette(
        routes=[Route("/mcp", echo, methods=["POST"]), Route("/runs", echo, methods=["POST"])],
        middleware=[Middleware(McpCheckMiddleware)],
    )
)


def call(**params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "t", **params}}


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "empty request"),
        ({"arguments": {"request": " "}}, "empty request"),
        ({"arguments": {"request": ["x"]}}, "request must be a string"),
        ({"arguments": ["x"]}, "must be objects"),
        ({"arguments": {"request": "x", "materials": "y"}}, "materials must map"),
        ({"arguments": {"request": "x"}, "context": {"max_step": 1}}, "unknown setting 'max_step'"),
        ({"arguments": {"request": "x"}, "context": {"approve_plan": True}}, "approve_plan cannot"),
    ],
)
def test_a_call_that_cannot_run_is_a_tool_error_of_one_line(
    params: dict[str, Any], said: str
) -> None:
    answer = CLIENT.post("/mcp", json=call(**params)).json()

    (content,) = answer["result"]["content"]
    assert answer["id"] == 7 and answer["result"]["isError"] is True
    assert said in content["text"] and "\n" not in content["text"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/mcp", json.dumps(call(arguments={"request": "x"}))),
        ("/mcp", json.dumps(call(arguments={"messages": "x"}, context=None))),
        ("/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
        ("/mcp", json.dumps([call()])),
        ("/mcp", json.dumps(call() | {"params": None})),
        ("/mcp", "no JSON"),
        ("/mcp", "[" * 100_000),
        ("/runs", json.dumps(call())),
    ],
)
def test_everything_else_passes_unchanged(path: str, body: str) -> None:
    assert CLIENT.post(path, content=body).json() == {"passed": body}
