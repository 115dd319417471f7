"""Servers over HTTP: the library's own, and addresses where there is none."""

import gzip
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import httpx
import pytest

from extensions.mcp.servers.mcp_tool import read_result
from extensions.mcp.servers.server_files import ResolvedServer
from extensions.mcp.servers.session import (
    CallFailed,
    SessionLost,
    get_session,
    make_http_client,
)
from nodes.errors import McpServerFailed
from tests.local_servers import QuietHandler, find_free_port, serve

pytestmark = pytest.mark.usefixtures("no_session_stays_open")

WEB_SERVER = Path(__file__).parents[1] / "mcp" / "web_server.py"
PATHS = {"http": "/mcp", "sse": "/sse"}
HEADERS = (("X-Token", "word"),)


def make_server(url: str, transport: str = "http") -> ResolvedServer:
    return ResolvedServer(name="web", transport=transport, timeout_s=4.0, url=url, headers=HEADERS)


@contextmanager
def run_server(transport: str) -> Iterator[ResolvedServer]:
    process, port = start_server(transport)
    try:
        yield make_server(f"http://127.0.0.1:{port}{PATHS[transport]}", transport)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module", params=["http", "sse"])
def server(request: pytest.FixtureRequest) -> Iterator[ResolvedServer]:
    with run_server(request.param) as running:
        yield running


def start_server(transport: str) -> tuple[subprocess.Popen[bytes], int]:
    """Return a server that answers, and its port: another test may take a port that was free."""
    for _ in range(3):
        port = find_free_port()
        command = [sys.executable, str(WEB_SERVER), transport, str(port)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if answers(process, port):
            return process, port
        process.kill()
        process.wait()
    raise TimeoutError("no server answers")


def answers(process: subprocess.Popen[bytes], port: int) -> bool:
    end = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < end:
        with suppress(httpx.HTTPError):
            response = httpx.get(f"http://127.0.0.1:{port}/", timeout=5)
            return response.headers.get("server") == "uvicorn" and process.poll() is None
        time.sleep(0.05)
    return False


async def call(server: ResolvedServer, tool: str, **arguments: str) -> str:
    session = await get_session(server)
    (block,) = read_result(await session.call(tool, arguments))
    return str(block["text"])


@pytest.mark.slow
async def test_a_tool_is_called_with_the_headers_of_the_entry(server: ResolvedServer):
    assert await call(server, "echo", text="hello") == "hello"
    assert await call(server, "show_header") == "word"


@pytest.mark.slow
async def test_after_a_call_without_an_answer_the_next_one_is_answered(
    server: ResolvedServer,
):
    brisk = replace(server, timeout_s=2.0)
    with pytest.raises(CallFailed, match="no answer within 2 s"):
        await call(brisk, "hang")

    assert await call(brisk, "echo", text="again") == "again"


@pytest.mark.slow
async def test_an_answer_that_is_too_large_is_not_read(server: ResolvedServer):
    with pytest.raises((CallFailed, SessionLost)):
        await call(server, "big")
    with suppress(SessionLost):  # that its session has ended may be noticed at the next call
        await call(server, "echo", text="hello")

    assert await call(server, "echo", text="again") == "again"


@pytest.mark.slow
@pytest.mark.parametrize("transport", PATHS)
async def test_a_server_that_ends_is_a_failure_in_time(
    transport: str, capfd: pytest.CaptureFixture[str]
):
    with run_server(transport) as server:
        with pytest.raises((CallFailed, SessionLost)):
            await call(server, "die")
        with pytest.raises((CallFailed, SessionLost, McpServerFailed)):
            await call(server, "echo", text="hello")

    assert capfd.readouterr() == ("", "")


class _Refusing(QuietHandler):
    """Answers each request with the status that its path names."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(int(self.path[1:4]))
        self.send_header("location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    do_GET = do_POST


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["http", "sse"])
@pytest.mark.parametrize(
    ("status", "reason"), [("401", "401 Unauthorized"), ("500", "500"), ("302", "127.0.0.1:1")]
)
async def test_a_refusing_server_is_one_line(transport: str, status: str, reason: str):
    with serve(_Refusing) as url, pytest.raises(McpServerFailed) as failure:
        await get_session(make_server(f"{url}/{status}", transport))

    assert reason in failure.value.format_line() and "\n" not in failure.value.format_line()


@pytest.mark.slow
async def test_an_address_without_a_server_is_one_line():
    with pytest.raises(McpServerFailed, match="ConnectError"):
        await get_session(make_server("http://127.0.0.1:1/mcp"))


BLANK = b"\n\n" * 50_000


@cache
def pack_bomb() -> bytes:
    """Return a few bytes that become 100 MB."""
    return gzip.compress(b"x" * 100_000_000)


class _Swollen(QuietHandler):
    """Answers with a body that has no end, or that is small only until it is unpacked."""

    def do_GET(self) -> None:
        is_packed = self.path == "/packed"
        self.send_response(200)
        kind = "text/event-stream" if self.path == "/events" else "application/json"
        self.send_header("content-type", kind)
        if is_packed:
            self.send_header("content-encoding", "gzip")
        self.end_headers()
        for _ in range(1 if is_packed else 120):
            try:
                self.wfile.write(pack_bomb() if is_packed else BLANK)
            except OSError:
                return  # the client has enough


@pytest.fixture
def url() -> Iterator[str]:
    with serve(_Swollen) as url:
        yield url


async def test_an_answer_that_is_compressed_is_not_read(url: str):
    async with make_http_client() as client:
        with pytest.raises(httpx.RemoteProtocolError, match="a compressed answer"):
            await client.get(f"{url}/packed")


async def test_blank_lines_do_not_lift_the_limit_of_an_answer(url: str):
    async with make_http_client() as client:
        with pytest.raises(httpx.ReadError, match="more than 8 MB"):
            await client.get(f"{url}/endless")


async def test_a_stream_of_small_events_may_be_long(url: str):
    async with make_http_client() as client:
        assert len((await client.get(f"{url}/events")).content) == 120 * len(BLANK)
