"""The benchmark's arithmetic: limits, waves, growth, tables, and plans read from files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.performance.figures import list_exponents, summarize_rows
from tests.benchmarks.performance.limits import (
    compute_limit_s,
    compute_waves_limit_s,
)
from tests.benchmarks.performance.own_plan import format_forecast, read_plan
from tests.benchmarks.performance.page import publish_report
from tests.benchmarks.performance.plans import make_scenario
from tests.benchmarks.performance.tables import format_report
from tests.benchmarks.performance.workflows import read_workflows

ROOT = Path(__file__).parents[2]


def make_row(**fields):
    """Make what one run is measured as: ten tasks in twice the limit."""
    return {
        "plan": "wide-10",
        "variant": "ours-memory",
        "runs": 1,
        "is_workflow": False,
        "round": 0,
        "tasks": 10,
        "limit_s": 1.0,
        "waves_limit_s": 1.5,
        "wall_s": 2.0,
        "processor_s": 0.1,
        "bytes": 1000,
        "peak_bytes": 150_000_000,
        "in_flight": 10,
        "calls": 12,
        "input_bytes": 4000,
        "endpoint_processor_s": 0.2,
        "endpoint_late_s": 0.001,
        **fields,
    }


def test_the_limit_is_the_longest_chain_and_waves_wait_for_the_slowest_task_of_each():
    scenario = make_scenario(
        {"a": (), "b": ("a",), "c": (), "d": ("c",)}, {"a": 1, "b": 10, "c": 10, "d": 1}
    )

    assert compute_limit_s(scenario) == pytest.approx(0.4 + 11)
    assert compute_waves_limit_s(scenario) == pytest.approx(0.4 + 20)


def test_a_summary_takes_medians_and_compares_runs_of_the_same_round():
    ours = [make_row(round=index, wall_s=wall_s) for index, wall_s in enumerate((2, 9, 3))]
    floor = [
        make_row(variant="floor", round=index, wall_s=wall_s)
        for index, wall_s in enumerate((1, 3, 2))
    ]

    summary, beside = summarize_rows([*ours, *floor])

    assert (summary["makespan"], summary["makespan_most"]) == (3, 9)
    assert summary["floor"] == 2  # of 2/1, 9/3 and 3/2
    assert beside["floor"] == 1
    assert summary["processor_ms"] == pytest.approx(10)
    assert summary["stored_bytes"] == 100


def test_growth_is_measured_along_tasks_and_along_runs():
    wide = [
        make_row(
            plan=f"wide-{n}", tasks=n, processor_s=n**1.5, wall_s=1 + n / 100, peak_bytes=50 + n
        )
        for n in (10, 100, 1000)
    ]
    cascades = [
        make_row(plan="cascade", tasks=5 * n, runs=n, processor_s=n, wall_s=1 + n)
        for n in (1, 10, 100)
    ]

    by_tasks, by_runs = list_exponents(summarize_rows([*wide, *cascades]))

    assert (by_tasks["along"], by_runs["along"]) == ("tasks", "runs")
    assert by_tasks["processor"] == pytest.approx(1.5)
    assert [by_tasks["overhead"], by_tasks["memory"]] == pytest.approx([1, 1])
    assert by_runs["processor"] == pytest.approx(1)


def test_the_report_shows_a_failed_variant_and_what_was_not_measured():
    failed = {**make_row(variant="waves-sqlite"), "error": "the disk is full"}
    cascades = [make_row(plan="cascade", runs=n, tasks=5 * n) for n in (1, 10)]
    workflow = make_row(plan="blast", is_workflow=True)
    summaries = summarize_rows([make_row(), failed, *cascades, workflow])

    report = format_report(summaries, ["PostgreSQL, as no server starts"], repeat=5)

    assert "| **ours, memory** | 2.00 | 2.00 |" in report
    assert "| LangGraph waves, SQLite | failed | - |" in report
    assert "Failed: wide-10, LangGraph waves, SQLite, 1 at once: the disk is full" in report
    assert "| blast | 10 | 1.50 | 2.00 |" in report
    assert "Not measured: PostgreSQL, as no server starts." in report


def test_the_report_replaces_what_is_between_the_marks_of_the_page(tmp_path):
    page, plot = tmp_path / "performance.md", tmp_path / "performance.svg"
    page.write_text("above\n<!-- figures -->\nold\n<!-- end of figures -->\nbelow\n")
    plot.write_text("<svg/>")

    publish_report("new", plot, page=page)

    assert page.read_text() == ("above\n<!-- figures -->\n\nnew\n<!-- end of figures -->\nbelow\n")
    assert (tmp_path / "images" / "performance.svg").read_text() == "<svg/>"


def test_workflows_of_both_forms_are_scaled_to_the_same_critical_path(tmp_path):
    tasks = [{"id": "a", "deps": [], "seconds": 30}, {"id": "b", "deps": ["a"], "seconds": 10}]
    (tmp_path / "some.jsonl").write_text(json.dumps({"id": "two", "tasks": tasks}))
    specified = [{"id": "x_1", "parents": []}, {"id": "x_2", "parents": ["x_1"]}]
    executed = [{"id": "x_1", "runtimeInSeconds": 3}, {"id": "x_2", "runtimeInSeconds": 1}]
    workflow = {"specification": {"tasks": specified}, "execution": {"tasks": executed}}
    (tmp_path / "wf.json").write_text(json.dumps({"workflow": workflow}))

    plans = read_workflows(tmp_path, critical_path_s=2)

    assert list(plans) == ["two", "wf"]
    for scenario in plans.values():
        assert [task.latency_s for task in scenario.tasks] == [1.5, 0.5]
        assert compute_limit_s(scenario) == pytest.approx(2.4)


def test_a_plan_is_forecast_with_seconds_of_its_own_or_the_default():
    tasks = [
        {"id": "a"},
        {"id": "b", "seconds": 30, "depends_on": ["a"]},
        {"id": "c", "depends_on": [{"task": "a", "required": False}]},
    ]

    plan = read_plan(json.dumps({"tasks": tasks}), task_s=10, calls_s=5)

    assert (plan.limit_s, plan.waves_s, plan.sequential_s) == (45, 45, 55)
    assert "| here | 45.50 | 1.01 |" in format_forecast(plan, {"ours-memory": 0.5})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nothing", "neither a plan nor a trace"),
        ('{"tasks": [{"id": "a", "depends_on": ["a"]}]}', "the tasks form a cycle"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_line(tmp_path, text, reason):
    (tmp_path / "plan.json").write_text(text)

    ended = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.performance.own_plan", tmp_path / "plan.json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 1
    [line] = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
    assert reason in line
    assert "Traceback" not in ended.stderr
