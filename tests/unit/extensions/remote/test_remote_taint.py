"""What a remote worker may be sent: its own words, and nothing private of others."""

import pytest

from nodes.security.provenance import build_taint, describe_private_source, exclude_worker
from state import Attempt, Dependency, Origin, Report, Task, WorkerState


def make_state(reporter: str, attempt_by: str) -> WorkerState:
    report = Report(task="b", worker=reporter, output="It is odd.", taint_labels=("private",))
    failed = Attempt(description="Find it.", worker=attempt_by, taint_labels=("private",))
    task = Task(id="a", description="Find it.", worker="far", depends_on=(Dependency(task="b"),))
    return {
        "task": task,
        "origin": Origin(user_text="Find it.", taint_labels=()),
        "materials": {},
        "inputs": {"b": report},
        "attempts": {"1": failed},
    }


def test_its_own_results_and_attempts_may_be_sent_back_to_it() -> None:
    taint = build_taint(exclude_worker(make_state("far", "far"), "far"))

    assert "private" not in taint.taint_labels


def test_results_and_attempts_of_others_count() -> None:
    for state in (make_state("near", "far"), make_state("far", "near")):
        assert "private" in build_taint(exclude_worker(state, "far")).taint_labels


def test_files_of_the_user_count() -> None:
    state = make_state("far", "far")
    state["materials"] = {"notes.txt": "x"}

    assert "private" in build_taint(exclude_worker(state, "far")).taint_labels


@pytest.mark.parametrize(
    ("changes", "source"),
    [
        ({"materials": {"notes.txt": "x"}}, "notes.txt is private"),
        ({}, "the result of b is private"),
        ({"inputs": {}}, "an earlier attempt has read private data"),
        (
            {"inputs": {}, "attempts": {}},
            "its words were written after private data was read in this thread",
        ),
    ],
)
def test_the_source_of_what_is_private_is_named(changes: WorkerState, source: str) -> None:
    state = make_state("near", "near")
    state.update(changes)

    assert describe_private_source(state) == source
