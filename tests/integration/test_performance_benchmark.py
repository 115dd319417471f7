"""The parts of the benchmark work together; what they measure is not judged here."""

import random

import pytest

from tests.benchmarks.performance.plans import make_scenario
from tests.benchmarks.performance.rounds import Trial, measure_trial

pytestmark = pytest.mark.slow

EDGES = {"a": (), "b": (), "c": ("a",), "d": ("b",), "e": ("c", "d")}


def test_each_variant_runs_the_plan_in_each_round_and_is_measured(postgres_url):
    variants = ("floor", "waves-sqlite", "ours-postgres", "run-sqlite")
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
        assert 1 <= row["in_flight"] <= 4
        assert (row["bytes"] > 0) == (row["variant"] != "floor")


def test_a_variant_that_fails_has_its_reason_and_the_others_are_measured():
    chain = {f"t{n}": (f"t{n - 1}",) if n else () for n in range(101)}
    trial = Trial("too deep", make_scenario(chain, 0.0), ("floor", "ours-memory"))

    rows = measure_trial(trial, repeat=1, draw=random.Random(0))

    floor, ours = sorted(rows, key=lambda row: row["variant"])
    assert floor["results"] == 101
    assert "100" in ours["error"]
