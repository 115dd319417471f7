"""The models for languages and meaning are read from files: they open no connection."""

import subprocess
import sys

import pytest

from tests.integration.dev_server import ROOT

pytestmark = pytest.mark.slow

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


def test_a_language_is_detected_and_a_meaning_compared_without_any_connection() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WATCHED], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (ended.returncode, ended.stderr) == (0, "")
