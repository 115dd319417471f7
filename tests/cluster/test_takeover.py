"""Runs whose server is killed, paused or loses its database end once, and right."""

from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster, require_cluster
from tests.cluster.outages import restart_postgres
from tests.cluster.special_runs import keep_token_cap, repeat_answer
from tests.cluster.stage import Stage
from tests.cluster.takeovers import RECOVERY_S, kill_with_runs, pause_past_the_lease
from tests.cluster.workload import Outcome, build_scenario
from tests.endpoint import Endpoint

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared_stage() -> Iterator[Stage]:
    require_cluster()
    with (
        Endpoint(build_scenario()).run_in_thread() as endpoint,
        Cluster(2, endpoint=endpoint.base_url) as cluster,
    ):
        yield Stage(cluster, endpoint)


@pytest.fixture
def stage(shared_stage: Stage) -> Stage:
    """Two servers that are running, and an endpoint that was not called yet."""
    shared_stage.restore()
    return shared_stage


def count_planner_calls(outcome: Outcome) -> set[int]:
    return set(outcome.calls.planned.values())


async def test_runs_of_a_killed_server_end_right_without_repeating_saved_tasks(
    stage: Stage,
) -> None:
    await stage.warm_up()

    outcome = await kill_with_runs(stage, runs=6, after_s=2.0)

    assert outcome.problems == []
    assert outcome.repeated == 0
    assert count_planner_calls(outcome) == {1}
    assert outcome.recovered_s is not None and outcome.recovered_s < RECOVERY_S


async def test_caps_hold_across_a_kill(stage: Stage) -> None:
    outcome = await keep_token_cap(stage, is_killed_twice=False)

    assert outcome.problems == []
    assert outcome.repeated == 0
    assert outcome.recovered_s is not None and outcome.recovered_s < RECOVERY_S


async def test_a_paused_server_writes_no_second_answer_when_it_continues(stage: Stage) -> None:
    outcome = await pause_past_the_lease(stage, reports=2)

    assert outcome.problems == []
    assert outcome.repeated == 0
    assert count_planner_calls(outcome) == {1}


async def test_runs_continue_when_their_database_restarts(stage: Stage) -> None:
    outcome = await restart_postgres(stage, mode="immediate", runs=3)

    assert outcome.problems == []
    assert outcome.repeated == 0


async def test_an_answer_that_is_repeated_after_a_kill_answers_no_second_question(
    stage: Stage,
) -> None:
    outcome = await repeat_answer(stage)

    assert outcome.problems == []
