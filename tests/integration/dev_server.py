"""`langgraph dev` as a process, in a folder that looks like a fresh checkout."""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_sdk.client import LangGraphClient

from tests.endpoint import Endpoint, script_tasks
from tests.local_servers import QuietHandler, find_free_port, serve

ROOT = Path(__file__).parents[2]
CHECKOUT = ("extensions", "graph", "nodes", "state.py", "teams", "langgraph.json")
START_TIMEOUT_S = 60.0
TEAM = "market_analysis"
QUESTION = "Compare the parts and say which one is best."
REQUEST = {"request": QUESTION}
PARTS = script_tasks({"A": (), "B": ("A",)})


@dataclass(frozen=True)
class DevServer:
    """A server that answers."""

    url: str
    log: Path

    def read_log(self) -> str:
        """Return all that the server has logged."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def send_request(
        self, method: str, path: str, body: str, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], str]:
        """Send a request with these headers alone; give status, headers and body of the answer."""
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        with closing(http.client.HTTPConnection(host, int(port), timeout=30)) as connection:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read().decode(errors="replace")


@dataclass(frozen=True)
class ServerContext:
    """A server, the endpoint of its models, and what it has sent to LangSmith."""

    server: DevServer
    endpoint: Endpoint
    sent_to_langsmith: list[str]


async def run_to_end(
    client: LangGraphClient, thread: str, given: Any, **more: Any
) -> dict[str, Any]:
    """Run on a thread, and return the last state, or the error."""
    ended = await client.runs.wait(thread, TEAM, input=given, raise_error=False, **more)
    assert isinstance(ended, dict)
    return ended


@contextmanager
def dev_server(folder: Path, **env: str) -> Iterator[DevServer]:
    """Start the server on a free port and wait until it is ready; it ends with the block.

    Its folder holds links to the code, so that what the server keeps does not land in the
    checkout, and no `.env`. A `langgraph.json` of its own names other graphs.
    """
    for name in CHECKOUT:
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    port, log = find_free_port(), folder / "server.log"
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    command += ["--port", str(port), "--n-jobs-per-worker", "10"]
    quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "NO_COLOR": "1", "HOME": str(folder)}
    path = {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.defpath))}
    with log.open("w") as out:
        child = subprocess.Popen(
            command, cwd=folder, env=path | quiet | env, stdout=out, stderr=subprocess.STDOUT
        )
    server = DevServer(f"http://127.0.0.1:{port}", log)
    try:
        _wait_until_ready(port, child, server)
        yield server
    finally:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


@contextmanager
def langsmith_sink() -> Iterator[tuple[str, list[str]]]:
    """Listen in LangSmith's place: gives its address and the paths that are sent to."""
    paths: list[str] = []

    class Sink(QuietHandler):
        def do_POST(self) -> None:
            paths.append(self.path)
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.do_GET()

        def do_GET(self) -> None:
            self.answer(200, b"{}")

    with serve(Sink) as url:
        yield url, paths


def _wait_until_ready(port: int, child: "subprocess.Popen[bytes]", server: DevServer) -> None:
    gives_up_s = time.monotonic() + START_TIMEOUT_S
    while not _is_ready(port):
        if child.poll() is not None or time.monotonic() > gives_up_s:
            raise RuntimeError(f"langgraph dev did not start:\n{server.read_log()}")
        # Only the other process knows; it has no way to call back.
        time.sleep(0.05)


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/ok")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
