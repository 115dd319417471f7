"""The comparison with other systems works in a small form; the figures are not judged here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.versus.cases import CASES, Cell
from tests.benchmarks.versus.contenders import SYSTEMS
from tests.benchmarks.versus.table import compute_limits_s, name_best

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
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


def test_each_system_has_a_file_and_pinned_packages_or_none():
    peers = ROOT / "tests" / "benchmarks" / "versus" / "peers"

    for system in SYSTEMS:
        assert (peers / f"{system.name}.py").is_file()
        if system.requirements.exists():
            lines = system.requirements.read_text("utf-8").split()
            assert [line for line in lines if "==" not in line] == []


def test_the_limits_are_those_of_the_work():
    assert compute_limits_s("even") == (5.0, 5.0)
    assert compute_limits_s("uneven") == (7.0, 9.0)


def test_makespans_that_hardly_differ_are_the_same_and_other_ranks_are_exact():
    near = {"a": Cell("1.00", (-1.0,)), "b": Cell("1.02", (-1.02,)), "c": Cell("2.0", (-2.0,))}
    exact = {"a": Cell("", (7, 0)), "b": Cell("", (7, -1)), "c": Cell("", (6, 0))}

    assert name_best(near, 0.03) == "all but c"
    assert name_best(exact) == "a"
    assert name_best({"a": exact["a"], "b": exact["a"]}) == "all equal"
