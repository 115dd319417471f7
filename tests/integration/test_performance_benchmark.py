"""The parts of the benchmark work together; what they measure is not judged here."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.performance.plans import make_scenario
from tests.benchmarks.performance.rounds import Trial, measure_trial

ROOT = Path(__file__).parents[2]

NIGHTLY = pytest.mark.nightly
pytestmark = pytest.mark.slow

EDGES = {"a": (), "b": (), "c": ("a",), "d": ("b",), "e": ("c", "d")}


@pytest.mark.parametrize(
    "variants",
    [("floor", "ours-postgres"), pytest.param(("waves-sqlite", "run-sqlite"), marks=NIGHTLY)],
)
def test_each_variant_runs_the_plan_in_each_round_and_is_measured(postgres_url, variants):
    trial = Trial("five", make_scenario(EDGES, 0.05), variants, runs=2)

    rows = measure_trial(trial, repeat=1, draw=random.Random(0), postgres_urls=[postgres_url])

    assert sorted(row["variant"] for row in rows) == sorted(variants)
    for row in rows:
        assert "error" not in row, row["error"]
        assert row["results"] == row["tasks"] == 10
        assert row["calls"] == 2 * (len(EDGES) + 2)
        assert row["wall_s"] > 0
        assert row["processor_s"] > 0
        assert row["peak_bytes"] > 0
        assert 1 <= row["in_flight"] <= 6  # of two runs: two tasks and the planner
        assert (row["bytes"] > 0) == (row["variant"] != "floor")


@NIGHTLY
def test_a_variant_that_fails_has_its_reason_and_the_others_are_measured():
    chain = {f"t{n}": (f"t{n - 1}",) if n else () for n in range(101)}
    trial = Trial("too deep", make_scenario(chain, 0.0), ("floor", "ours-memory"))

    rows = measure_trial(trial, repeat=1, draw=random.Random(0))

    floor, ours = sorted(rows, key=lambda row: row["variant"])
    assert floor["results"] == 101
    assert "100" in ours["error"]


def test_the_command_writes_rows_figures_and_tables(tmp_path):
    chosen = ["--plans", "wide-10", "--runs", "2", "--variants", "floor", "--repeat", "1"]

    ended = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.performance", *chosen, "--out", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 0, ended.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [(row["plan"], row["runs"]) for row in rows] == [("wide-10", 1), ("cascade", 2)]
    assert len(json.loads((tmp_path / "figures.json").read_text())) == 2
    assert (tmp_path / "tables.md").read_text().strip() == ended.stdout.strip()
