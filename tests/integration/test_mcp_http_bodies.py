"""Bodies over HTTP that are larger than they look."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from extensions.mcp.servers.session import make_http_client

BLANK = b"\n\n" * 50_000
BOMB = gzip.compress(b"x" * 100_000_000)


class _Swollen(BaseHTTPRequestHandler):
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
                self.wfile.write(BOMB if is_packed else BLANK)
            except OSError:
                return  # the client has enough

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    listening = ThreadingHTTPServer(("127.0.0.1", 0), _Swollen)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}"
    listening.shutdown()
    listening.server_close()


async def test_an_answer_that_is_compressed_is_not_read(url: str) -> None:
    async with make_http_client() as client:
        with pytest.raises(httpx.RemoteProtocolError, match="a compressed answer"):
            await client.get(f"{url}/packed")


async def test_blank_lines_do_not_lift_the_limit_of_an_answer(url: str) -> None:
    async with make_http_client() as client:
        with pytest.raises(httpx.ReadError, match="more than 8 MB"):
            await client.get(f"{url}/endless")


async def test_a_stream_of_small_events_may_be_long(url: str) -> None:
    async with make_http_client() as client:
        assert len((await client.get(f"{url}/events")).content) == 120 * len(BLANK)
