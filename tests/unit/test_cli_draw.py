"""`supervise draw` of a run, as a user calls it."""

import json
from pathlib import Path

import pytest

from graph.settings import Settings
from tests.screen import CapturedScreen

NEEDS = [{"task": "collect", "required": True}]
TASKS = [
    {"id": "collect", "worker": "researcher", "description": "Collect.", "depends_on": []},
    {"id": "compare", "worker": "analyst", "description": "Compare.", "depends_on": NEEDS},
]
PLAN = {"goal": "Compare.", "tasks": TASKS, "version": 1}
EVENTS = [
    {"t": 0.0, "kind": "request", "request": "Compare the coffees."},
    {"t": 0.5, "kind": "plan_created", "plan": PLAN},
    {"t": 0.5, "kind": "dispatched", "tasks": ["collect", "compare"]},
    {"t": 0.6, "kind": "task_started", "task": "collect", "worker": "researcher", "attempt": 1},
]


def write_log(thread: str, *entries: object) -> None:
    folder = Settings().home / "traces"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(entry) for entry in entries]
    (folder / f"{thread}.jsonl").write_text("\n".join(lines) + "\n")


@pytest.fixture(autouse=True)
def run() -> None:
    write_log("t1", {"run": {"thread": "t1", "team": "coffee"}}, *EVENTS)


def test_a_thread_is_drawn_as_mermaid(supervise: CapturedScreen) -> None:
    assert supervise("draw", "t1") == 0

    assert supervise.out.startswith("flowchart LR\n")
    assert "collect<br>working" in supervise.out and "compare<br>waiting" in supervise.out


def test_what_cannot_be_drawn_is_one_line(supervise: CapturedScreen) -> None:
    write_log("odd", *EVENTS, {"t": 1.0, "kind": "report", "task": "collect", "report": "-"})
    write_log("no-plan", EVENTS[0])

    for arguments, line in {
        ("nothing",): "unknown team 'nothing', and no run has this thread",
        ("odd",): "the log of thread 'odd' cannot be read: AttributeError",
        ("no-plan",): "the run has no plan",
        ("t1", "--out", "missing/run.mmd"): "cannot write missing/run.mmd",
    }.items():
        assert supervise("draw", *arguments) != 0
        assert line in supervise.err and supervise.err.count("\n") == 1
        assert "UNEXPECTED" not in supervise.err


@pytest.mark.parametrize(
    ("file", "begins"),
    [
        ("plan.mmd", "flowchart LR\n"),
        ("plan.md", "```mermaid\nflowchart LR\n"),
        ("plan", "flowchart LR\n"),
    ],
)
def test_a_file_of_markdown_holds_the_drawing_between_fences(
    supervise: CapturedScreen, file: str, begins: str
) -> None:
    assert supervise("draw", "t1", "--out", file) == 0

    assert Path(file).read_text().startswith(begins)


@pytest.mark.parametrize("name", ["t1", "market_analysis"])
def test_a_suffix_that_does_not_fit_is_refused_and_nothing_is_written(
    supervise: CapturedScreen, name: str
) -> None:
    assert supervise("draw", name, "--out", "x.png") == 2

    assert "a drawing is Mermaid, which .png does not hold. next: --out FILE.mmd" in supervise.err
    assert supervise.err.count("\n") == 1 and not list(Path().glob("x.*"))
