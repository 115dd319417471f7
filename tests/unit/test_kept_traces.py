"""The live page builds the same trace from entries as the command line does."""

import json
from pathlib import Path
from typing import Any

import pytest

from graph.runs.trace import build_trace

# The page's own test, web/test/build-trace.test.ts, reads the same file.
CASES = json.loads((Path(__file__).parents[2] / "web/test/kept-traces.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_page_and_the_command_line_agree_on_a_trace(case: dict[str, Any]):
    assert build_trace(case["entries"]) == case["trace"]
