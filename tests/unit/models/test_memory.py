"""An answer that is far too large costs little memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.endpoint import Fault, Scenario
from tests.endpoint.process import run_endpoint_process

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
MAX_GROWTH_KIB = 300_000


@pytest.mark.skipif(sys.platform == "win32", reason="memory is told by Unix")
@pytest.mark.parametrize("kind", ["huge", "gzip_bomb"])
def test_h18_h19_a_body_of_300_mb_is_refused_before_it_is_in_memory(kind: str) -> None:
    fault = Fault(kind=kind, nth=(2,), size=300_000_000)  # type: ignore[arg-type]

    with run_endpoint_process(Scenario(faults=(fault,))) as served:
        child = subprocess.run(
            [sys.executable, "-m", "tests.unit.models.memory_child", served.base_url],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "LANGSMITH_TRACING": "false"},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )

    result = json.loads(child.stdout)
    assert result["code"] == "RESPONSE_TOO_LARGE"
    assert result["grown_kib"] < MAX_GROWTH_KIB
