"""A human stops one task of a run at work; the others go their way, and the answer has the gap."""

import asyncio
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from graph import arun
from graph.runs.stopping import NothingToStop, TaskUnknown, astop
from graph.runs.trace import ThreadUnknown, get_log_path
from graph.stores.run_database import build_stop_namespace
from graph.stores.thread_locks import ThreadInvalid
from graph.topology.stop_watch import MAX_REQUESTS
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.limits.stop_requests import StopRequests
from nodes.schemas.team import Team, Worker
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask
from tests.runs import GIVEN, REQUEST, THREAD, Runs, make_saver
from tests.teams import make_team

HANG_S = 20.0
"""A guard against what never comes, and no measure."""
HANGS = (Fault(kind="hang", schema="Report", task="A"),)
PLACE = build_stop_namespace("one")
OPTIONAL = ({"task": "A", "required": False},)


def build_graph(runs: Runs, store: InMemoryStore, team: Team | None = None) -> Any:
    saver = make_saver()
    return runs.build_graph(team or make_team(), checkpointer=saver, store=store)


async def wait_until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(HANG_S):
        while not is_so():  # noqa: ASYNC110 - the endpoint has no way to call back
            await asyncio.sleep(0.02)


async def run_and_stop(
    graph: SupervisorGraph, store: InMemoryStore, endpoint: Endpoint, *tasks: str
) -> Any:
    """Run to the end; stop tasks as soon as A is at work."""
    run = asyncio.create_task(graph.ainvoke(GIVEN, THREAD))
    await wait_until(lambda: endpoint.select_calls(schema="Report", task="A"))
    for task in tasks:
        await store.aput(PLACE, task, {})
    return await asyncio.wait_for(run, HANG_S)


async def test_a_task_that_is_stopped_fails_once_and_blocks_only_those_that_need_it(runs: Runs):
    runs.script(
        ScriptedTask(id="A"),
        ScriptedTask(id="B"),
        ScriptedTask(id="needs_A", depends_on=("A",)),
        ScriptedTask(id="may_use_A", depends_on=OPTIONAL),
        faults=HANGS,
    )
    store = InMemoryStore()

    state = await run_and_stop(build_graph(runs, store), store, runs.endpoint, "A")

    results = state["results"]
    assert (results["A"].status, results["A"].error) == ("failed", "stopped by a human")
    assert results["A"].attempts == 1
    assert results["B"].status == results["may_use_A"].status == "completed"
    assert results["needs_A"].status == "skipped"
    assert state["status"] == "partial"
    assert any("stopped by a human" in gap for gap in state["answer"].gaps)
    assert len(runs.select_calls(schema="Plan")) == 1


@pytest.mark.parametrize(
    ("first", "stopped", "statuses"),
    [
        ("A", ("B", "A"), {"A": "failed", "B": "skipped"}),
        ("B", ("*",), {"A": "failed", "B": "completed"}),
    ],
    ids=["before it begins", "all"],
)
async def test_what_is_stopped_is_told_from_what_was_done(
    runs: Runs, first: str, stopped: tuple[str, ...], statuses: dict[str, str]
):
    (later,) = {"A", "B"} - {first}
    tasks = (ScriptedTask(id=first), ScriptedTask(id=later, depends_on=(first,)))
    runs.script(*tasks, faults=HANGS)
    store = InMemoryStore()

    state = await run_and_stop(build_graph(runs, store), store, runs.endpoint, *stopped)

    results = state["results"]
    assert {name: report.status for name, report in results.items()} == statuses
    for report in results.values():
        assert (report.error == "stopped by a human") == (report.status != "completed")
    assert (results["B"].attempts == 0) == (not runs.select_calls(schema="Report", task="B"))


async def test_a_task_is_stopped_while_it_is_reworded_for_another_attempt(runs: Runs):
    failed = {"status": "failed", "output": "no such figure"}
    tasks = (ScriptedTask(id="A", report=failed), ScriptedTask(id="B"))
    faults = (Fault(kind="hang", schema="Refinement"),)
    runs.script(*tasks, faults=faults)
    store = InMemoryStore()
    graph = build_graph(runs, store)

    run = asyncio.create_task(graph.ainvoke(GIVEN, THREAD))
    await wait_until(lambda: runs.select_calls(schema="Refinement"))
    await store.aput(PLACE, "A", {})
    state = await asyncio.wait_for(run, HANG_S)

    assert state["results"]["A"].error == "stopped by a human"
    assert len(runs.select_calls(schema="Report", task="A")) == 1
    assert state["results"]["B"].status == "completed"


async def test_an_answer_without_what_was_stopped_says_that_a_resume_brings_it(runs: Runs):
    runs.script(ScriptedTask(id="A"), faults=HANGS)
    store = InMemoryStore()

    state = await run_and_stop(build_graph(runs, store), store, runs.endpoint, "A")

    assert state["answer"].text.startswith("No task could be completed.")
    assert state["answer"].text.endswith("For an answer, resume the run.")


async def test_however_many_requests_are_left_none_stops_a_task_of_the_next_run(runs: Runs):
    runs.script(ScriptedTask(id="A"))
    store = InMemoryStore()
    for number in range(MAX_REQUESTS + 5):
        await store.aput((*PLACE, "below") if number % 2 else PLACE, f"x{number}", {})
    await store.aput(PLACE, "A", {})

    state = await build_graph(runs, store).ainvoke(GIVEN, THREAD)

    assert state["status"] == "done"
    assert not await store.asearch(PLACE)


def test_a_request_for_what_no_task_can_be_named_costs_nothing():
    stops = StopRequests()
    tracemalloc.start()
    stops.add("/" * 5_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 1_000_000
    assert not stops.includes("A")


@pytest.mark.slow
async def test_a_task_of_an_inner_team_is_stopped_by_its_path(runs: Runs):
    outer = Scenario(tasks=(ScriptedTask(id="R", worker="research"),)).build_plan()
    parts = (ScriptedTask(id="A", worker="reader"), ScriptedTask(id="B", worker="counter"))

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        return Scenario(tasks=parts).build_plan() if "You read." in str(body) else outer

    runs.script(*parts, faults=HANGS, answers={"Plan": answer})
    inner = make_team("reader", "counter", name="research_team", guidance="You read.")
    research = Worker(name="research", description="Finds figures.", team=inner)
    store, team = InMemoryStore(), make_team(workers=(research,), name="desk")

    state = await run_and_stop(build_graph(runs, store, team), store, runs.endpoint, "R/A")

    report = state["results"]["R"]
    assert report.status == "completed" and report.is_partial
    assert any("stopped by a human" in gap for gap in report.gaps)


async def test_another_caller_stops_a_task_of_a_run_of_this_machine(runs: Runs):
    tasks = (ScriptedTask(id="A"), ScriptedTask(id="B"))
    runs.script(*tasks, faults=HANGS)
    log = get_log_path("my.run", runs.settings)
    run = asyncio.create_task(runs.run(thread="my.run"))
    await wait_until(lambda: log.exists() and '"task_started"' in log.read_text())

    ended = await astop("my.run", "A", settings=runs.settings)
    outcome = await asyncio.wait_for(run, HANG_S)

    assert ended == {"A": "stopped"}
    assert outcome.status == "partial"
    with pytest.raises(NothingToStop, match="not at work"):
        await astop("my.run", "A", settings=runs.settings)


async def test_a_task_that_there_is_not_or_that_has_ended_is_named(runs: Runs):
    tasks = (ScriptedTask(id="A"), ScriptedTask(id="B"))
    runs.script(*tasks, faults=HANGS)
    run = asyncio.create_task(runs.run(thread="two"))
    await wait_until(lambda: runs.select_calls(schema="Report", task="A"))
    await wait_until(lambda: "completed" in str(runs.load_trace("two")["tasks"]))

    with pytest.raises(TaskUnknown) as unknown:
        await astop("two", "C\x1b[2J", settings=runs.settings)
    with pytest.raises(NothingToStop) as ended:
        await astop("two", "B", settings=runs.settings)
    with pytest.raises(ThreadUnknown):
        await astop("three", settings=runs.settings)
    with pytest.raises(ThreadInvalid):
        await astop("../two", settings=runs.settings)
    run.cancel()

    assert "its tasks are A, B" in unknown.value.format_line()
    assert "\x1b" not in unknown.value.format_line()
    assert "open tasks: A" in ended.value.format_line()


async def test_a_task_that_waits_for_a_human_ends_when_the_run_is_resumed(runs: Runs):
    asking = {"reason": "ambiguous_input", "message": "Which year?", "partial": ""}
    asked = {"status": "escalated", "escalation": asking}
    done = {"status": "completed", "output": "42"}
    tasks = tuple(ScriptedTask(id=name, report=[asked, done]) for name in ("A", "B"))
    runs.script(*tasks)
    store = InMemoryStore()
    graph = build_graph(runs, store)
    await graph.ainvoke(GIVEN, THREAD, context={"ask_human": True})

    await store.aput(PLACE, "A", {})
    state = await graph.ainvoke(Command(resume={"B": "2024"}), THREAD)

    assert state["results"]["A"].error == "stopped by a human"
    assert state["results"]["B"].status == "completed"
    assert "__interrupt__" not in state


async def test_a_question_whose_task_is_stopped_needs_no_answer(runs: Runs):
    asking = {"reason": "ambiguous_input", "message": "Which year?", "partial": ""}
    asked = {"status": "escalated", "escalation": asking}
    tasks = (ScriptedTask(id="A", report=asked), ScriptedTask(id="B"))
    runs.script(*tasks)
    options: Any = {"team": make_team(), "settings": runs.settings, "thread": "asks"}
    waiting = await arun(REQUEST, context={"ask_human": True}, **options)

    ended = await astop("asks", "A", settings=runs.settings)
    outcome = await runs.resume("asks")

    assert waiting.status == "needs_input"
    assert ended == {"A": "stops when the run is resumed"}
    assert outcome.status == "partial"
    assert outcome.results["A"].error == "stopped by a human"
    with pytest.raises(NothingToStop):
        await astop("asks", "A", settings=runs.settings)


async def test_a_store_that_cannot_be_read_ends_no_run(
    runs: Runs, caplog: pytest.LogCaptureFixture
):
    class BrokenStore(InMemoryStore):
        async def abatch(self, ops: Any) -> Any:
            asked = list(ops)
            if any(op.namespace_prefix[-1:] == ("stop",) for op in asked if hasattr(op, "limit")):
                raise ConnectionError("the database is gone")
            return await super().abatch(asked)

    runs.script(ScriptedTask(id="A"))

    state = await build_graph(runs, BrokenStore()).ainvoke(GIVEN, THREAD)

    assert state["status"] == "done"
    assert "cannot be read now" in caplog.text
