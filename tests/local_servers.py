"""Small HTTP servers of this process, in place of servers that are none of ours."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

POLL_S = 0.01
"""How long the end of a server waits for its thread to look; the library's own is half a second."""


class QuietHandler(BaseHTTPRequestHandler):
    """Handles requests, and writes no line for any."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Answer a request; `content_type="text/plain"` is a header."""
        self.send_response(status)
        for name, value in {"content_length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve(handler: Callable[..., BaseHTTPRequestHandler], port: int = 0) -> Iterator[str]:
    """Serve on loopback in a thread; yield the address, such as `http://127.0.0.1:40123`."""
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, args=(POLL_S,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def find_free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Recorder:
    """A server that keeps what each connection brings first, and answers each alike."""

    def __init__(self, status: str = "200 OK") -> None:
        self.requests: list[str] = []
        self._answer = f"HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\n{{}}".encode()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.url = f"http://{self.host}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept nothing more."""
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:  # closed
                return
            with connection:
                self.requests.append("")  # a connection that brings nothing counts, too
                self.requests[-1] = connection.recv(65536).decode(errors="replace")
                connection.sendall(self._answer)
