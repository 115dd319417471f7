"""Where a request to a server holds the settings of a run, and what is refused there."""

import json

import pytest

from extensions.server.context_check import CHECKED_PATHS, find_context_problem

MISSPELT = {"context": {"max_tokns": 5}}
COMMAND = {"id": 1, "method": "run.start", "params": MISSPELT}


@pytest.mark.parametrize("asked", [MISSPELT, [MISSPELT], COMMAND])
def test_an_unknown_setting_is_found_in_each_form_of_a_request(asked: object):
    assert "max_tokns" in find_context_problem(json.dumps(asked).encode())


@pytest.mark.parametrize(
    "key", ["__pregel_task_id", "__pregel_checkpointer", "__pregel_runtime", "__run_scope"]
)
def test_a_run_cannot_declare_to_be_inside_another(key: str):
    for asked in ({"config": {"configurable": {key: "x"}}}, {"checkpoint": {key: "x"}}):
        problem = find_context_problem(json.dumps(asked).encode())

        assert f"{key!r} in the configurable is reserved" in problem


@pytest.mark.parametrize("name", [7, ["supervise-trace"]])
def test_a_namespace_is_a_string(name: object):
    asked = {"config": {"configurable": {"checkpoint_ns": name}}}

    assert "not a string" in find_context_problem(json.dumps(asked).encode())


def test_what_a_graph_of_another_process_passes_is_accepted():
    passed = {"__pregel_resuming": True, "__pregel_durability": "exit", "checkpoint_ns": ""}
    asked = {"config": {"configurable": passed}}

    assert find_context_problem(json.dumps(asked).encode()) == ""


@pytest.mark.parametrize(
    "asked",
    [{**COMMAND, "params": {"context": {"max_tokens": 5}}}, {**COMMAND, "params": 7}, 7, None],
)
def test_other_requests_are_the_servers_to_judge(asked: object):
    assert find_context_problem(json.dumps(asked).encode()) == ""


@pytest.mark.parametrize("path", ["/threads/t/commands", "/threads/t/runs/stream", "/runs"])
def test_the_paths_that_start_runs_are_checked(path: str):
    assert CHECKED_PATHS.fullmatch(path)
