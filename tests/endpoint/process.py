"""Run the endpoint in a process of its own, so that its work does not count as the client's."""

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supervisor_worker.testing.endpoint.scenario import Scenario

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class EndpointProcess:
    """An endpoint that runs elsewhere."""

    port: int
    process: "subprocess.Popen[str]"

    @property
    def base_url(self) -> str:
        """What a client is given, with its `/v1`."""
        return f"http://127.0.0.1:{self.port}/v1"

    def fetch_records(self) -> dict[str, Any]:
        """Fetch `calls` (without bodies), `max_in_flight` and the server's `processor_s` so far."""
        return self._ask_for_records("GET")

    def clear_records(self) -> float:
        """Forget the calls so far, and return the server's processor seconds so far."""
        return float(self._ask_for_records("DELETE")["processor_s"])

    def _ask_for_records(self, method: str) -> dict[str, Any]:
        address = f"http://127.0.0.1:{self.port}/requests"
        with urllib.request.urlopen(urllib.request.Request(address, method=method)) as response:
            found: dict[str, Any] = json.load(response)
            return found


@contextmanager
def run_endpoint_process(
    scenario: Scenario, *, port: int = 0, log: Path | None = None
) -> Iterator[EndpointProcess]:
    """Start the endpoint as a child and wait until it listens."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.json"
        path.write_text(scenario.to_json(), encoding="utf-8")
        command = [sys.executable, "-m", "tests.endpoint", "--scenario", str(path)]
        command += ["--port", str(port), *(["--log", str(log)] if log else [])]
        child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert child.stdout is not None, "asked for a pipe"
            ready = child.stdout.readline()
            yield EndpointProcess(int(ready.rsplit(":", 1)[1].split("/")[0]), child)
        finally:
            child.terminate()
            child.wait()
            if child.stdout:
                child.stdout.close()
