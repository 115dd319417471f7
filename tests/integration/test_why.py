"""Faults at the wire, in tools and of humans, and the first cause that is computed for each.

`tests/benchmarks/why.py` has them at random tasks of random graphs; these are some of its runs.
"""

import asyncio
from pathlib import Path

import pytest

from extensions.insight.causes import explain
from graph import arun
from graph.runs.trace import load_trace
from graph.settings import Settings
from nodes.schemas.team import Worker
from tests.benchmarks.injected_faults import ALONE, AT_TASKS, GOOD, OF_RUNS, draw
from tests.benchmarks.why import find_truth, judge, play
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask
from tests.runs import Runs
from tests.teams import make_team

QUICK = ("HTTP 401", "prose", "report fails", "invented quotation", "tool raises", "no file")
SEED = 7
NAMES = (*AT_TASKS, *ALONE, *OF_RUNS)


@pytest.mark.parametrize("name", QUICK)
async def test_the_first_cause_is_the_task_and_the_kind_that_were_injected(name: str):
    judged = await judge(NAMES.index(name), 1, SEED)

    assert judged.names == [name] and judged.truth
    assert judged.found == judged.truth


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in QUICK])
async def test_so_it_is_for_all_faults(name: str):
    judged = await judge(NAMES.index(name), 1, SEED)

    assert judged.found == judged.truth


@pytest.mark.slow
async def test_two_faults_that_both_struck_are_two_causes(tmp_path: Path):
    run = draw(3, 2, SEED)
    trace, asked = await play(run, tmp_path)

    found = {(cause.kind, cause.task) for cause in explain(trace).causes}

    assert found == find_truth(run, trace, asked)


@pytest.mark.parametrize("number", range(2))
async def test_a_run_that_recovered_has_no_cause(number: int):
    judged = await judge(number, 0, SEED)

    assert not judged.found


CHAIN = tuple(
    ScriptedTask(id=name, depends_on=needs, report=GOOD)
    for name, needs in (("a", ()), ("b", ("a",)), ("c", ("b",)))
)


async def test_the_chain_leads_from_the_last_task_that_was_lost_to_the_first_event(runs: Runs):
    runs.script(*CHAIN, faults=(Fault(kind="unauthorized", task="a"),))
    await runs.run("Compare the parts.", thread="one")
    trace = runs.load_trace("one")

    (cause,) = explain(trace).causes

    assert [step.text for step in cause.chain] == ["c was skipped", "b was skipped", "a failed"]
    assert cause.lost == ("a", "b", "c") and cause.mast == ""
    assert cause.event["kind"] == "model_call" and cause.event["error"] == "UNAUTHORIZED"
    assert cause.remedies[0].name == "OPENAI_API_KEY"
    assert explain(trace, "c").causes[0].kind == "unauthorized"


async def test_after_a_resume_that_did_the_rest_nothing_has_failed(runs: Runs):
    runs.script(*CHAIN, faults=(Fault(kind="unauthorized", task="b"),))
    await runs.run("Compare the parts.", thread="one")
    runs.script(*CHAIN)
    await runs.resume("one", team=make_team())

    why = explain(runs.load_trace("one"))

    assert (why.status, why.causes) == ("done", ())


async def test_a_task_that_a_team_does_goes_back_to_a_task_of_the_team(runs: Runs):
    squad = Worker(name="squad", description="Digs.", team=make_team("digger", ladder=()))
    outer = make_team(ladder=("refine", "tier"))
    outer = outer.model_copy(update={"workers": (*outer.workers, squad)})
    dig = {"id": "dig", "description": "Write dig.md: name three figures.", "worker": "digger"}
    whole = {"id": "all", "description": "Write all.md: name three figures.", "worker": "squad"}
    plans = [{"goal": "All.", "tasks": [whole]}, {"goal": "Dig.", "tasks": [dig]}]
    faults = (Fault(kind="prose", task="dig", schema="Report"),)
    runs.script(answers={"Plan": plans}, faults=faults)

    await runs.run("Dig all.", team=outer, thread="one")

    (cause,) = explain(runs.load_trace("one")).causes
    assert (cause.kind, cause.task) == ("unreadable_reply", "all/dig")
    assert [step.task for step in cause.chain] == ["all", "all/dig"]


async def test_a_call_that_an_open_circuit_refused_goes_back_to_the_call_that_opened_it(
    endpoint: Endpoint, settings: Settings
):
    faults = (Fault(kind="server_error", task="b", status=500),)
    endpoint.load_scenario(Scenario(tasks=CHAIN, faults=faults))
    settings = settings.model_copy(update={"model_fast": "openai:gpt-5-nano"})
    await arun("Compare the parts.", team=make_team(), settings=settings, thread="one")
    trace = load_trace("one", settings)

    codes = [event.get("error") for event in trace["events"] if event["kind"] == "model_call"]

    assert "ENDPOINT_DOWN" in codes  # of the answer
    assert [(c.kind, c.task) for c in explain(trace).causes] == [("endpoint_failed", "b")]


async def test_a_run_that_waits_for_a_human_has_not_failed(runs: Runs):
    runs.script(*CHAIN)
    await runs.run("Compare.", thread="one", context={"approve_plan": True})

    why = await asyncio.to_thread(explain, runs.load_trace("one"))

    assert not why.causes and "waits for a human" in why.notes[0]
