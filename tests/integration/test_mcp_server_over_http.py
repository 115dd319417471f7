"""`supervise mcp --http`: the public client over HTTP, and who is turned away."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

from tests.integration.mcp_clients import NOTES, REQUEST, TEAM, Heard, build_environment, read_text
from tests.screen import CapturedScreen

pytestmark = pytest.mark.slow
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}
HEADERS = {"accept": "application/json, text/event-stream"}


@contextmanager
def serve(folder: Path, *options: str, address: str = "127.0.0.1:0", **env: str) -> Iterator[str]:
    """Start a server on a free port, and give its address."""
    made = folder / "project"
    made.mkdir()
    server = subprocess.Popen(
        [sys.executable, "-m", "graph.cli", "mcp", TEAM, "--http", address, *options],
        cwd=made,
        env=build_environment(made, **env),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr
    try:
        yield server.stderr.readline().split()[-1]
    finally:
        server.terminate()
        server.communicate(timeout=20)


async def test_a_client_over_http_gets_progress_a_form_and_the_answer(tmp_path: Path):
    heard = Heard()

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        heard.questions.append(params.message)
        return types.ElicitResult(action="accept", content={"decision": "accept"})

    with serve(tmp_path, "--approve") as url:
        async with (
            streamable_http_client(url) as (read, write, _),
            ClientSession(
                read, write, elicitation_callback=answer, logging_callback=heard.note_log
            ) as session,
        ):
            await session.initialize()
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            result = await session.call_tool(
                TEAM,
                {"request": REQUEST, "materials": NOTES},
                progress_callback=heard.note_progress,
            )
            refused = await session.call_tool(TEAM, {"request": REQUEST, "files": ["notes.md"]})

    assert "files" not in tools[TEAM].inputSchema["properties"]
    assert len(heard.questions) == 1 and heard.log and heard.progress
    assert result.structuredContent and result.structuredContent["status"] == "passages"
    assert refused.isError and "files: Extra inputs" in read_text(refused)


def test_foreign_names_and_pages_and_too_much_text_are_refused(tmp_path: Path):
    with serve(tmp_path) as url:
        foreign = httpx.post(url, json=HELLO, headers={**HEADERS, "host": "evil.example:80"})
        page = httpx.post(url, json=HELLO, headers={**HEADERS, "origin": "https://evil.example"})
        large = httpx.post(url, content=b'{"a": "' + b"b" * 21_000_000, headers=HEADERS)
        own = httpx.post(url, json=HELLO, headers=HEADERS)

    assert (foreign.status_code, page.status_code, large.status_code) == (421, 403, 413)
    assert own.status_code == 200


def test_with_a_token_only_its_holder_is_served(tmp_path: Path):
    with serve(tmp_path, address="0.0.0.0:0", SUPERVISE_MCP_TOKEN="s3cret-token") as url:
        url = url.replace("0.0.0.0", "127.0.0.1")
        without = httpx.post(url, json=HELLO, headers=HEADERS)
        wrong = httpx.post(url, json=HELLO, headers={**HEADERS, "authorization": "Bearer no"})
        right = httpx.post(
            url, json=HELLO, headers={**HEADERS, "authorization": "Bearer s3cret-token"}
        )

    assert (without.status_code, wrong.status_code, right.status_code) == (401, 401, 200)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("0.0.0.0:0", "SUPERVISE_MCP_TOKEN"),
        ("8765", "is no address"),
        ("127.0.0.1:99999", "is no address"),
        ("no.such.host.invalid:80", "no token is set"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_line(
    supervise: CapturedScreen, address: str, said: str
):
    assert supervise("mcp", TEAM, "--http", address) == 2
    assert (supervise.out, supervise.err.count("\n")) == ("", 1)
    assert supervise.err.startswith("error[SETTINGS_INVALID]") and said in supervise.err
