"""The servers that the live page is driven against: `langgraph dev`, and Aegra."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from tests.cluster.cluster import Cluster
from tests.cluster.instance import Instance
from tests.integration.dev_server import dev_server

NAMES: Final = ("dev", "aegra")


@contextmanager
def run_server(
    name: str, folder: Path, endpoint: str, **variables: str
) -> Iterator[dict[str, str]]:
    """Start a server whose teams use the model endpoint.

    Yields its `url`; for Aegra also `control`, an address whose `/kill` and `/start` end and start
    the instance.
    """
    if name == "aegra":
        with Cluster(1, endpoint=endpoint, variables=variables) as cluster:
            [instance] = cluster.instances
            with _control(instance) as control:
                yield {"url": instance.url, "control": control}
        return
    given = {"OPENAI_BASE_URL": endpoint, "OPENAI_API_KEY": "sk-test", **variables}
    with dev_server(folder, **given) as server:
        yield {"url": server.url}


@contextmanager
def _control(instance: Instance) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/kill":
                instance.kill()
            else:
                instance.start()
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Write no line for a request."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
