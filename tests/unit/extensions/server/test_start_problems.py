"""What keeps a server from starting, and what it only warns about; without a server."""

from dataclasses import replace
from typing import Any

import pytest

from extensions.server.start_problems import APP, InstanceSettings, find_start_problems

SAFE = InstanceSettings(
    is_strict_msgpack=True,
    has_broker=True,
    lease_s=30,
    heartbeat_s=10,
    jobs=10,
    app=APP,
    traces_to_langsmith=False,
    own_trace_targets="",
    unknown_variables={},
)


def test_right_settings_have_no_problem():
    assert list(find_start_problems(SAFE)) == []


@pytest.mark.parametrize(
    ("change", "named", "is_fatal"),
    [
        ({"is_strict_msgpack": False}, "LANGGRAPH_STRICT_MSGPACK", True),
        ({"lease_s": 20}, "LEASE_DURATION_SECONDS (20)", True),
        ({"has_example_password": True}, "the password of deploy/secrets.env.example", True),
        ({"has_broker": False}, "REDIS_BROKER_ENABLED", False),
        ({"has_broker": False, "jobs": 0}, "REDIS_BROKER_ENABLED", False),
        ({"jobs": 0}, "WORKER_COUNT is 0", False),
        ({"app": ""}, "`http.app`", False),
        ({"traces_to_langsmith": True}, "LANGSMITH_TRACING", False),
        ({"own_trace_targets": "PHOENIX"}, "OTEL_TARGETS is 'PHOENIX'", False),
        ({"unknown_variables": {"SUPERVISE_X": ""}}, "SUPERVISE_X is not a setting", False),
    ],
)
def test_each_problem_is_named_once_with_what_to_do(
    change: dict[str, Any], named: str, is_fatal: bool
):
    [problem] = find_start_problems(replace(SAFE, **change))

    assert named in problem.text and problem.next
    assert problem.is_fatal is is_fatal


def test_a_name_with_a_typing_error_is_answered_with_the_right_one():
    [problem] = find_start_problems(replace(SAFE, unknown_variables={"SUPERVISE_A": "SUPERVISE_B"}))

    assert str(problem) == "SUPERVISE_A is not a setting; did you mean SUPERVISE_B?"


def test_what_forbids_a_start_comes_first():
    doubtful = replace(SAFE, has_broker=False, is_strict_msgpack=False, traces_to_langsmith=True)

    assert [problem.is_fatal for problem in find_start_problems(doubtful)] == [True, False, False]
