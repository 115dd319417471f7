"""The comparison with other systems works in a small form; the figures are not judged here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.versus.cases import CASES

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.nightly
def test_the_systems_that_need_no_installation_are_compared(tmp_path: Path):
    small = ["--only", "waves", "ours", "--rounds", "1", "--scale", "0.3", "--out", str(tmp_path)]

    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.versus", *small],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    assert [row for row in rows if "ends with" in row] == []
    cells = {row.split(" | ")[0][2:]: row.split(" | ")[1:3] for row in rows}
    assert {words for words, _ in CASES.values()} <= set(cells)
    assert cells["uneven: model calls"] == ["13", "13"]
    assert "not noticed" in cells["the plan has a cycle"][0]
    assert "refused, asked again; whole answer" in cells["the plan has a cycle"][1]
    assert "nothing marks it" in cells["a worker's model invents a quotation and a price"][0]
    assert "marked as unproved" in cells["a worker's model invents a quotation and a price"][1]
    assert "; 0 of " in cells["killed in the middle, started again"][1]
    assert set(json.loads((tmp_path / "runs.json").read_text("utf-8"))) == {"waves", "ours"}
