"""A run that sets no deadline has one: it ends with what it has, and a resume has a new one."""

import json

import pytest

from graph import arun, build_supervisor
from graph.runs.runner import aresume
from graph.settings import Settings
from graph.topology.run_start import CLOCK_KEY, RunStart
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import RunScope, get_run_scope
from state import Context
from tests.endpoint import Endpoint, Fault, Scenario, script_tasks
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."
HANGS = Fault(kind="hang", schema="Report", task="b")


@pytest.mark.slow
async def test_a_silent_model_ends_at_the_default_and_a_resume_has_a_new_one(
    endpoint: Endpoint, settings: Settings
) -> None:
    tasks = script_tasks({"a": (), "b": (), "c": ("b",)})
    endpoint.load_scenario(Scenario(tasks=tasks, faults=(HANGS,)))
    limited = settings.model_copy(update={"deadline_s": 5.0})

    ended = await arun(REQUEST, team=make_team(), settings=limited)
    endpoint.load_scenario(Scenario(tasks=tasks))
    resumed = await aresume(ended.thread, settings=limited)

    assert ended.answer is not None
    assert (ended.status, ended.exit_code) == ("partial", 3)
    assert ended.results["a"].status == "completed"
    assert "SUPERVISE_DEADLINE_S" in " ".join([*ended.answer.gaps, ended.answer.text])
    assert resumed.status == "done"
    assert len(endpoint.select_calls(schema="Report", task="a")) == 1


@pytest.mark.slow
async def test_a_chain_that_slow_answers_make_longer_than_the_default_is_done(
    endpoint: Endpoint, settings: Settings
) -> None:
    tasks = script_tasks({"a": (), "b": ("a",), "c": ("b",), "d": ("c",)})
    endpoint.load_scenario(Scenario(tasks=tasks, latency_s={"*": 0.8}))
    limited = settings.model_copy(update={"deadline_s": 3.0})

    outcome = await arun(REQUEST, team=make_team(), settings=limited)
    cut = await arun(REQUEST, team=make_team(), settings=limited, context={"deadline_s": 3.0})

    assert outcome.status == "done"
    assert cut.status == "partial"
    assert "SUPERVISE_DEADLINE_S" not in str(cut.answer)


@pytest.mark.parametrize(("setting", "limit_s"), [(0.0, None), (900.0, 900.0), (60.0, 60.0)])
def test_the_setting_changes_the_default_and_zero_switches_it_off(
    settings: Settings, setting: float, limit_s: float | None
) -> None:
    graph = build_supervisor(
        make_team(), settings=settings.model_copy(update={"deadline_s": setting})
    )

    assert graph.default_deadline_s == graph.copy().default_deadline_s == limit_s


def test_the_default_is_fifteen_minutes() -> None:
    assert Settings(_env_file=None).deadline_s == 900.0


def test_a_default_deadline_starts_again_where_another_server_takes_the_run_over() -> None:
    first = RunStart(Context(), None, Context()).stamp_config({}, default_deadline_s=900.0)
    clock = json.dumps({**json.loads(first["metadata"][CLOCK_KEY]), "began_at": now_s() - 5000})
    taken = RunStart(Context(), None, Context(), saved_clock=clock)

    scope: RunScope = get_run_scope(taken.stamp_config({}, default_deadline_s=900.0))

    assert scope.deadline is not None and scope.began_at is not None
    assert scope.deadline.ends_at > now_s() + 890
    assert scope.began_at < now_s() - 4999
