"""Without a switch nothing is sent, whatever keys and addresses of collectors are set."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.dev_server import ROOT
from tests.local_servers import Recorder

pytestmark = pytest.mark.slow

REQUEST = "Which shop sold most?"
BY_PYTHON = f"""
from graph import run
assert run({REQUEST!r}, materials={{"sales.csv": "shop,eur\\na,4"}}).status
"""
BY_SERVER_GRAPH = f"""
from teams.market_analysis import studio
from graph.topology.blocking_portal import get_portal
given = {{"request": {REQUEST!r}, "materials": {{"sales.csv": "shop,eur\\na,4"}}}}
assert get_portal().call(studio.graph.ainvoke(given))["status"]
"""
COMMANDS = {
    "the command line": ["-m", "graph.cli", "run", REQUEST, "--file", "sales.csv", "--quiet"],
    "Python": ["-c", BY_PYTHON],
    "a graph of the server": ["-c", BY_SERVER_GRAPH],
}


@pytest.fixture
def listener() -> Iterator[Recorder]:
    listening = Recorder()
    yield listening
    listening.close()


def address_collectors(listener: Recorder) -> dict[str, str]:
    return {
        "LANGSMITH_API_KEY": "lsv2_pt_0123456789abcdef",
        "LANGSMITH_ENDPOINT": listener.url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": listener.url,
    }


def run_process(arguments: list[str], folder: Path, **variables: str) -> int:
    (folder / "sales.csv").write_text("shop,eur\na,4\nb,7\n")
    kept = {name: os.environ[name] for name in os.environ if name != "LANGSMITH_TRACING"}
    environment = {**kept, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=False,
    ).returncode


@pytest.mark.parametrize("way", COMMANDS)
def test_no_connection_is_made_to_a_collector_whose_switch_is_off(
    way: str, tmp_path: Path, listener: Recorder
):
    code = run_process(COMMANDS[way], tmp_path, **address_collectors(listener))

    assert code in (0, 3)
    assert listener.requests == []


@pytest.mark.parametrize("switch", ["LANGSMITH_TRACING", "SUPERVISE_OTEL"])
def test_the_same_run_is_sent_where_a_switch_is_on(switch: str, tmp_path: Path, listener: Recorder):
    variables = {**address_collectors(listener), switch: "true"}

    run_process(COMMANDS["the command line"], tmp_path, **variables)

    sent = "/v1/traces" if switch == "SUPERVISE_OTEL" else "/runs"
    assert any(sent in request for request in listener.requests)


WATCHED = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        sys.exit(f"{event}: {arguments}")
sys.addaudithook(refuse)
from nodes.text.phrases import detect_language
from nodes.text.similarity import measure_meaning
assert detect_language("Welcher Lieferant ist am günstigsten?") in ("de", "en")
assert len(measure_meaning("birds", ["A flock of starlings", "A kettle"])) == 2
"""


def test_a_language_is_detected_and_a_meaning_compared_without_any_connection():
    ended = subprocess.run(
        [sys.executable, "-c", WATCHED], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (ended.returncode, ended.stderr) == (0, "")
