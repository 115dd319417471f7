"""The shipped record of a run by a real language model: small, whole, replayed without tools."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from extensions.replay.record_file import read_record
from extensions.replay.replayer import list_unrecorded, replay_record
from extensions.replay.show import DEMO
from nodes.models.settings import EMBEDDED

ROOT = Path(__file__).parents[4]
MAX_BYTES = 300_000
WATCHED = """
import json, sys
opened = []
forbidden = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen")
sys.addaudithook(lambda event, _: opened.append(event) if event in forbidden else None)
from extensions.replay.show import show_demo
code = show_demo(is_fast=True, as_json=False, quiet=True)
loaded = [name for name in sys.modules if name.startswith(("extensions.tools.", "teams."))]
loaded += [name for name in ("duckdb", "trafilatura", "openai", "pypdf") if name in sys.modules]
print(json.dumps([code, opened, loaded]), file=sys.stderr)
"""


def test_the_shipped_record_is_of_a_language_model_whole_and_replayed_equal() -> None:
    record = read_record(DEMO)

    done = replay_record(record)

    assert done.is_equal and done.outcome.status == "done"
    assert DEMO.stat().st_size < MAX_BYTES and list_unrecorded(record) == []
    models = {event["model"] for event in done.events if event["kind"] == "model_call"}
    assert models and EMBEDDED not in models


@pytest.mark.slow
def test_the_demo_loads_no_tool_and_no_client_and_opens_nothing() -> None:
    command = [sys.executable, "-c", WATCHED]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)

    assert json.loads(ran.stderr.splitlines()[-1]) == [0, [], []]
    assert "107,556 million USD" in ran.stdout
