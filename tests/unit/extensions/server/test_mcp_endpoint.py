"""What the server's MCP endpoint is asked, and what a run's context may hold, before it runs."""

import json
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from extensions.server.middleware import (
    CHECKED_PATHS,
    McpRouteMiddleware,
    find_context_problem,
    rewrite_result,
)


async def echo(request: Request) -> JSONResponse:
    """Return what has passed the check."""
    return JSONResponse({"passed": (await request.body()).decode()})


CLIENT = TestClient(
    Starlette(
        routes=[Route("/mcp", echo, methods=["POST"]), Route("/runs", echo, methods=["POST"])],
        middleware=[Middleware(McpRouteMiddleware)],
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


OUTPUT = {
    "answer": {"text": "42"},
    "status": "done",
    "messages": [{"type": "ai", "content": "42\n\n**Confidence:** 90 of 100"}],
    "results": {"A": {"error": None}},
}


def build_response(text: str, **fields: Any) -> bytes:
    result = {"content": [{"type": "text", "text": text}], **fields}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


def test_a_result_is_the_last_message_and_the_answer():
    result = json.loads(rewrite_result(build_response(repr(OUTPUT))))["result"]

    assert result["content"] == [{"type": "text", "text": OUTPUT["messages"][0]["content"]}]  # type: ignore[index]  # of mixed values
    assert result["structuredContent"] == {"status": "done", "answer": {"text": "42"}}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not JSON",
        b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602}}',
        build_response("RequestInvalid", isError=True),
        build_response("{'messages': []}"),
        build_response("__import__('os')"),
        build_response("[" * 5000),
        build_response("{'messages': [{'content': 'x'}], 'answer': {1, 2}}"),
        build_response("{'messages': [{'content': 'x'}], 'answer': 1e400}"),
        b"[1]",
    ],
)
def test_any_other_response_is_unchanged(body: bytes):
    assert rewrite_result(body) == body


MISSPELT = {"context": {"max_tokns": 5}}
COMMAND = {"id": 1, "method": "run.start", "params": MISSPELT}


@pytest.mark.parametrize("asked", [MISSPELT, [MISSPELT], COMMAND])
def test_an_unknown_setting_is_found_in_each_form_of_a_request(asked: object):
    assert "max_tokns" in find_context_problem(json.dumps(asked).encode())


@pytest.mark.parametrize(
    "key", ["__pregel_task_id", "__pregel_checkpointer", "__pregel_runtime", "__run_scope"]
)
def test_a_run_cannot_declare_to_be_inside_another(key: str):
    for asked in ({"config": {"configurable": {key: "x"}}}, {"checkpoint": {key: "x"}}):
        problem = find_context_problem(json.dumps(asked).encode())

        assert f"{key!r} in the configurable is reserved" in problem


@pytest.mark.parametrize("name", [7, ["supervise-trace"]])
def test_a_namespace_is_a_string(name: object):
    asked = {"config": {"configurable": {"checkpoint_ns": name}}}

    assert "not a string" in find_context_problem(json.dumps(asked).encode())


def test_what_a_graph_of_another_process_passes_is_accepted():
    passed = {"__pregel_resuming": True, "__pregel_durability": "exit", "checkpoint_ns": ""}
    asked = {"config": {"configurable": passed}}

    assert find_context_problem(json.dumps(asked).encode()) == ""


@pytest.mark.parametrize(
    "asked",
    [{**COMMAND, "params": {"context": {"max_tokens": 5}}}, {**COMMAND, "params": 7}, 7, None],
)
def test_other_requests_are_the_servers_to_judge(asked: object):
    assert find_context_problem(json.dumps(asked).encode()) == ""


@pytest.mark.parametrize("path", ["/threads/t/commands", "/threads/t/runs/stream", "/runs"])
def test_the_paths_that_start_runs_are_checked(path: str):
    assert CHECKED_PATHS.fullmatch(path)
