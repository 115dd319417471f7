"""Running on a thread that is kept: outcome, journal, trace, resume, locks, bad stores."""

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from graph import arun, run
from graph.runs.plan_only import aplan_with_estimate
from graph.runs.runner import ThreadUnfinished, aresume
from graph.runs.trace import ThreadUnknown, get_log_path, list_runs, load_trace
from graph.settings import Settings
from graph.stores.thread_locks import ThreadInvalid, lock_thread
from graph.topology.answers import NoOpenQuestion
from nodes.errors import RequestInvalid, StoreError, ThreadBusy
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, script_tasks
from tests.runs import REQUEST, Runs
from tests.teams import make_team

CHAIN = {"A": (), "B": ("A",), "C": ("B",)}


async def test_the_outcome_is_the_contracts_object(runs: Runs):
    runs.script(*script_tasks(CHAIN))

    outcome = await runs.run(thread="one")

    result = json.loads(json.dumps(outcome.to_json()))
    assert set(result) >= {
        *("thread", "status", "answer", "plan", "results", "timing", "usage", "error"),
    }
    assert result["status"] == "done" and outcome.exit_code == 0
    assert set(result["timing"]) >= {"wall_s", "sequential_s", "critical_path_s", "speedup"}
    assert set(result["usage"]) >= {"model_calls", "input_tokens", "output_tokens", "cost_usd"}
    assert result["usage"]["by_worker"]["researcher"]["model_calls"] == 3


async def test_the_trace_tells_every_event_in_order(runs: Runs):
    runs.script(*script_tasks(CHAIN))

    await runs.run(thread="one")

    trace = runs.load_trace("one")
    kinds = [event["kind"] for event in trace["events"]]
    moments = [event["t"] for event in trace["events"]]
    assert kinds[0] == "request" and kinds[-1] == "answer"
    assert [kinds.count(kind) for kind in ("plan_created", "dispatched", "task_started")] == [
        1,
        1,
        3,
    ]
    assert [kinds.count(kind) for kind in ("model_call", "report", "synthesized")] == [5, 3, 1]
    assert moments == sorted(moments)
    assert [task["status"] for task in trace["tasks"]] == ["completed"] * 3
    assert trace["run"]["status"] == "done"
    assert trace["usage"]["model_calls"] == 5
    assert all(call["task"] in CHAIN for call in trace["events"] if call["kind"] == "task_started")


async def test_a_listener_hears_what_is_written(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    heard: list[Any] = []

    await runs.run(thread="one", on_event=heard.append)

    assert json.loads(json.dumps(heard)) == runs.load_events()


async def test_an_error_keeps_what_was_finished_and_a_resume_goes_on(runs: Runs):
    runs.script(
        *script_tasks(CHAIN), faults=(Fault(kind="unauthorized", schema="Plan", nth=(1, 2)),)
    )
    failed = await runs.run(thread="one")

    resumed = await runs.resume("one")

    assert failed.error is not None and failed.exit_code == 4
    assert failed.error.format_line().startswith("error[UNAUTHORIZED]")
    assert "next: supervise resume one" in failed.error.format_line() or failed.error.next
    assert resumed.status == "done"
    trace = runs.load_trace("one")
    kinds = [event["kind"] for event in trace["events"]]
    assert kinds.count("error") == 2 and kinds.count("answer") == 1  # the first tier, then the run
    assert trace["run"]["resumed"] == 1


async def test_a_partial_end_goes_on_with_what_is_missing(runs: Runs):
    failing = {"status": "failed", "output": "not there yet"}
    tasks = (
        ScriptedTask(id="A"),
        ScriptedTask(id="B", depends_on=("A",), report=[failing] * 4 + [{"output": "there"}]),
        ScriptedTask(id="C", depends_on=("B",)),
    )
    runs.script(*tasks)
    partial = await runs.run(thread="one", team=make_team(max_recursion=0))

    resumed = await runs.resume("one")

    assert (partial.status, partial.exit_code) == ("partial", 3)
    assert resumed.status == "done"
    assert len(runs.select_calls(task="A", schema="Report")) == 1
    assert resumed.usage.model_calls == len(runs.requests)
    assert [task["status"] for task in runs.load_trace("one")["tasks"]] == ["completed"] * 3


async def test_a_run_accepted_but_never_begun_starts_from_its_request(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    await runs.run(thread="one")
    runs.settings.resolve_database_path().unlink()

    outcome = await runs.resume("one")

    assert outcome.status == "done"
    assert len(runs.select_calls(schema="Plan")) == 2


async def test_a_second_request_on_a_thread_is_a_follow_up(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    await runs.run(thread="one")

    outcome = await runs.run("And in euros?", thread="one")

    trace = runs.load_trace("one")
    assert outcome.status == "done"
    assert outcome.plan is not None and outcome.plan.version == 2
    assert REQUEST in str(runs.select_calls(schema="Plan")[1].body)
    assert [plan["version"] for plan in trace["plans"]] == [1, 2]
    assert trace["run"]["request"] == "And in euros?"


async def test_a_new_request_does_not_bury_an_unfinished_run(runs: Runs):
    runs.script(*script_tasks(CHAIN, latency_s={"B": 30.0}))
    running = asyncio.ensure_future(runs.run(thread="one"))
    await runs.wait_for_calls(began=3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    with pytest.raises(ThreadUnfinished, match="has not ended"):
        await runs.run("Something else", thread="one")

    assert list_runs(runs.settings)[0]["status"] == "stopped"


async def test_a_request_that_never_got_a_plan_may_be_replaced(runs: Runs):
    refused = Fault(kind="unauthorized", schema="Plan", nth=(1, 2))
    runs.script(*script_tasks(CHAIN), faults=(refused,))
    await runs.run(thread="one")

    outcome = await runs.run("Something else", thread="one")

    assert outcome.status == "done"
    assert "Something else" in str(runs.select_calls(schema="Plan")[2].body)


async def test_a_follow_up_that_fails_does_not_show_the_earlier_answer(runs: Runs):
    refused = Fault(kind="unauthorized", schema="Plan", nth=(2, 3))
    runs.script(*script_tasks(CHAIN), faults=(refused,))
    await runs.run(thread="one")

    failed = await runs.run("And in euros?", thread="one")
    resumed = await runs.resume("one")

    assert failed.status == "failed"
    assert failed.answer is None and not failed.results
    assert resumed.status == "done"
    assert "And in euros?" in str(runs.select_calls(schema="Plan")[3].body)


async def test_a_tier_that_cannot_be_reached_is_reported_before_anything_is_spent(runs: Runs):
    runs.script(*script_tasks(CHAIN))

    outcome = await runs.run(thread="one", context={"model_fast": "nonesuch:x"})

    assert outcome.exit_code == 2
    assert "SUPERVISE_MODEL_FAST" in str(outcome.error)
    assert not runs.requests


async def test_a_thread_that_runs_elsewhere_is_refused_at_once(runs: Runs):
    with lock_thread("one", runs.settings.home), pytest.raises(ThreadBusy) as caught:
        await runs.run(thread="one")

    assert caught.value.exit_code == 6


@pytest.mark.parametrize(
    "name", ["", "../../x", "a'; drop table", "a\x00", "x" * 65, "\uff41", "..", "."]
)
async def test_a_thread_id_has_a_safe_form(name: str, settings: Settings):
    with pytest.raises(ThreadInvalid):
        await aresume(name, settings=settings)


async def test_an_unknown_thread_and_an_answer_nobody_asked_for_are_refused(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    with pytest.raises(ThreadUnknown):
        await runs.resume("nobody")
    await runs.run(thread="one")

    with pytest.raises(NoOpenQuestion):
        await runs.resume("one", answer="yes")


async def test_a_request_that_is_empty_or_too_large_costs_nothing(runs: Runs):
    for words in ("", " \n", "a" * 100_001):
        with pytest.raises(RequestInvalid):
            await runs.run(words)

    assert not runs.requests
    assert not list_runs(runs.settings)


async def test_a_database_that_is_a_folder_or_cannot_be_made_is_refused(runs: Runs, tmp_path: Path):
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "file" / "inner.sqlite", "/proc/none/runs.sqlite"):
        elsewhere = runs.settings.model_copy(update={"database_url": f"sqlite:///{place}"})
        with pytest.raises(StoreError):
            await runs.run(settings=elsewhere)


async def test_a_line_that_a_kill_cut_short_is_passed_over(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    await runs.run(thread="one")
    with get_log_path("one", runs.settings).open("a", encoding="utf-8") as file:
        file.write('{"t": 9.5, "kind": "rep')
    await runs.run("And in euros?", thread="one")

    trace = runs.load_trace("one")

    assert trace["run"]["status"] == "done"
    assert [run["thread"] for run in list_runs(runs.settings)] == ["one"]


async def test_checkpoints_are_whole_and_the_database_stays_small(runs: Runs):
    runs.script(*script_tasks({f"t{n}": () for n in range(10)}))

    await runs.run(thread="one")

    with sqlite3.connect(runs.settings.resolve_database_path()) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert runs.settings.resolve_database_path().stat().st_size < 10 * 60_000


def test_synchronous_code_can_run_a_request(tmp_path: Path):
    with Endpoint(Scenario(tasks=script_tasks(CHAIN))).run_in_thread() as served:
        settings = Settings(
            openai_base_url=served.base_url, database_url=f"sqlite:///{tmp_path / 'runs.sqlite'}"
        )
        outcome = run(REQUEST, team=make_team(), settings=settings)

    assert outcome.status == "done"


async def test_a_plan_comes_with_its_estimate_and_the_trace_holds_it_against_the_bill(
    endpoint: Endpoint, settings: Settings
):
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": (), "B": ("A",)})))
    # The endpoint counts the bytes of a request, and one for a stream has some more.
    settings = settings.model_copy(update={"speculate": False})

    plan, estimate = await aplan_with_estimate(REQUEST, team=make_team(), settings=settings)
    await arun(REQUEST, team=make_team(), settings=settings, thread="one")

    usage = load_trace("one", settings)["usage"]
    assert len(plan.tasks) == 2 and not endpoint.select_calls(schema="Report", task="C")
    assert estimate.model_calls == usage["model_calls"] == 4
    assert usage["estimate"] == estimate.model_dump(mode="json")
    assert usage["by_mechanism"] == {"plan": 1, "work": 2, "synthesis": 1}
    spent, expected = usage["input_tokens"], estimate.input_tokens
    assert 0.5 < expected / spent < 2
