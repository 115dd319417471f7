"""Where the words of a run come from, and the taint labels of those who worded its tasks."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from nodes.security.provenance import (
    build_origin_after_results,
    build_request_origin,
    build_subteam_origin,
    build_taint,
    build_task_origin,
)
from state import Origin
from tests.node_runs import make_config
from tests.node_samples import (
    make_attempt,
    make_planned_state,
    make_report,
    make_task,
    make_worker_state,
)

CLEAN = Origin(user_text="Count.", taint_labels=())
PUBLIC = Origin(taint_labels=(), public=("a.csv",))
PRIVATE = {"A": make_report("A", taint_labels=("private",))}


def test_a_first_request_is_the_users_words_without_labels():
    state = make_planned_state(messages=[HumanMessage("Hello.")])

    origin = build_request_origin(state, "Count.", make_config())

    assert origin == Origin(user_text="Hello.\nCount.", taint_labels=())


def test_a_follow_up_has_read_what_the_threads_answers_were_made_of():
    messages = [HumanMessage("Hello."), AIMessage("Hi.")]
    state = make_planned_state(results=PRIVATE, messages=messages, origin=CLEAN)

    assert build_request_origin(state, "Count.", make_config()).taint_labels == ("private",)


def test_answers_of_unknown_origin_count_as_the_worst():
    state = make_planned_state(messages=[AIMessage("Hi.")])

    origin = build_request_origin(state, "Count.", make_config())

    assert origin.taint_labels == ("private", "untrusted")


def test_a_nested_team_takes_the_origin_of_its_task():
    config = make_config(origin=CLEAN)

    assert build_request_origin(make_planned_state(), "Anything.", config) == CLEAN


def test_tasks_that_are_worded_after_results_carry_their_labels():
    state = make_planned_state(results=PRIVATE, origin=CLEAN)

    assert build_origin_after_results(state).taint_labels == ("private",)


def test_only_a_task_that_was_sent_back_carries_the_labels_of_the_results():
    state = make_planned_state(results=PRIVATE, origin=CLEAN, notes={"A": "Name the year."})

    assert build_task_origin(make_task("A"), state).taint_labels == ("private",)
    assert build_task_origin(make_task("B"), state).taint_labels == ()


@pytest.mark.parametrize(
    ("fields", "labels"),
    [
        ({}, set()),
        ({"materials": {"a.csv": "x"}}, {"private", "untrusted"}),
        (
            {
                "materials": {"a.csv": "x"},
                "origin": PUBLIC,
            },
            {"untrusted"},
        ),
        ({"task": make_task("B", "analyst", "A"), "inputs": PRIVATE}, {"private"}),
        ({"attempts": [make_attempt(taint_labels=("untrusted",))]}, {"untrusted"}),
    ],
)
def test_an_attempt_begins_with_the_labels_of_all_that_it_is_given(
    fields: dict[str, Any], labels: set[str]
):
    taint = build_taint(make_worker_state(**{"origin": CLEAN, **fields}))

    assert taint.taint_labels == labels


def test_the_tasks_own_words_are_allowed_where_its_plan_is_clean():
    task = make_task("A")

    clean = build_taint(make_worker_state(task, origin=CLEAN))
    tainted = build_taint(
        make_worker_state(task, origin=CLEAN.model_copy(update={"taint_labels": ("private",)}))
    )

    assert task.description in clean.allowed_text
    assert task.description not in tainted.allowed_text and "Count." in tainted.allowed_text


def test_addresses_of_inputs_may_be_fetched():
    inputs = {"A": make_report("A", addresses=("https://a.example/",))}
    state = make_worker_state(make_task("B", "analyst", "A"), inputs=inputs, origin=CLEAN)

    assert build_taint(state).list_addresses() == ("https://a.example/",)


def test_a_subteam_is_told_which_inputs_are_public():
    inputs = {**PRIVATE, "C": make_report("C")}
    state = make_worker_state(make_task("B", "analyst", "A", "C"), inputs=inputs, origin=CLEAN)

    origin = build_subteam_origin(state)

    assert origin.taint_labels == ("private",) and origin.public == ("result C",)
