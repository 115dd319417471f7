"""Results of the server's MCP endpoint, as clients read them."""

import json
from typing import Any

import pytest

from extensions.server.mcp_answers import rewrite_result

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
