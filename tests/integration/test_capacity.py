"""Routing by load: what a worker has in flight and what it took lately go into the choice."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from examples.mechanisms.capacity import REQUESTS, SECONDS, serve_requests
from nodes.limits.deadline import now_s
from nodes.limits.worker_load import TeamLoad, WorkerLoad, choose_least_busy_worker, get_team_load
from nodes.schemas.team import Team
from state import Tier
from tests.endpoint import ScriptedTask, script_tasks
from tests.runs import GIVEN, Runs, run_graph, select_events
from tests.teams import make_team

ROUTED = {"Decision": {"worker": "researcher", "reason": "It knows parts."}}


def make_named_team(name: str, **fields: Any) -> Team:
    """Make a team of its own name, whose load no other test knows; the analyst may stand in."""
    made = make_team(name=name, **fields)
    first, *others = made.workers
    return made.model_copy(
        update={"workers": (first.model_copy(update={"fallback": "analyst"}), *others)}
    )


class Watched(InMemoryStore):
    """A store that tells when something was put into it."""

    def __init__(self) -> None:
        super().__init__()
        self.write_count = asyncio.Event()

    async def aput(self, *args: Any, **kwargs: Any) -> None:
        await super().aput(*args, **kwargs)
        self.write_count.set()


async def collect_events(made: Team, runs: Runs) -> list[dict[str, Any]]:
    return (await run_graph(runs.build_graph(made)))[1]


async def test_a_request_is_routed_to_the_idle_fallback_of_a_busy_worker(runs: Runs):
    runs.script(answers=ROUTED)
    made = make_named_team("routed", strategy="route")

    with get_team_load(made).count_attempt("researcher", None):
        busy = await collect_events(made, runs)
    idle = await collect_events(made, runs)

    (judged,) = select_events(busy, "judged")
    assert judged["decision"]["worker"] == "analyst"
    assert "researcher is busy: 1 at work; analyst is idle" in judged["decision"]["reason"]
    assert "- researcher: 1 at work" in str(runs.select_calls(schema="Decision")[0].body)
    assert select_events(idle, "judged")[0]["decision"]["worker"] == "researcher"


async def test_a_team_may_keep_to_its_first_choice_however_busy_it_is(runs: Runs):
    runs.script(answers=ROUTED)
    made = make_named_team("loyal", strategy="route", prefer_idle=False)

    with get_team_load(made).count_attempt("researcher", None):
        events = await collect_events(made, runs)

    assert select_events(events, "judged")[0]["decision"]["worker"] == "researcher"


async def test_the_planner_is_told_how_busy_the_workers_are_and_the_trace_too(runs: Runs):
    runs.script(*script_tasks({"A": ()}))
    made = make_named_team("planned")

    first = await collect_events(made, runs)
    with get_team_load(made).count_attempt("writer", None):
        second = await collect_events(made, runs)

    unloaded, loaded = (str(call.body) for call in runs.select_calls(schema="Plan"))
    assert "<load>" not in unloaded and "- writer: 1 at work" in loaded
    loads = [select_events(events, "task_started")[0]["load"] for events in (first, second)]
    assert loads[0] == {"in_flight": 0, "latency_s": None}
    assert loads[1]["in_flight"] == 0 and loads[1]["latency_s"] > 0


async def test_load_is_kept_in_the_store_for_other_processes():
    store = InMemoryStore()
    here, there = TeamLoad("shared"), TeamLoad("shared")

    with here.count_attempt("researcher", store):
        await here.save_to_store(store)
        (item,) = await store.asearch(("capacity", "shared"))
        at_work = {"elsewhere": next(iter(item.value["at_work"].values()))}
        await store.aput(("capacity", "shared"), "researcher", {**item.value, "at_work": at_work})
        await there.load_from_store(store)

    assert there.measure_load("researcher").in_flight == 1
    await here.save_to_store(store)
    kept = await store.aget(("capacity", "shared"), "researcher")
    assert kept is not None and set(kept.value["at_work"]) == {"elsewhere"}
    assert kept.value["latency_s"] >= 0


async def test_work_of_a_process_that_died_is_forgotten():
    store, capacity = InMemoryStore(), TeamLoad("dead")
    value = {"latency_s": 2.0, "ended_at": now_s(), "at_work": {"gone": [3, 0.0]}}
    await store.aput(("capacity", "dead"), "researcher", value)

    await capacity.load_from_store(store)

    assert capacity.measure_load("researcher") == WorkerLoad(0, 2.0)
    assert capacity.measure_load("researcher").describe() == "2.0 s lately"


async def test_the_store_is_written_while_long_work_goes_on_and_when_a_run_ends(runs: Runs):
    store, made = Watched(), make_named_team("written")
    runs.script(*script_tasks({"A": ()}, latency_s=1.5))
    graph = runs.build_graph(made)
    graph.store = store

    running = asyncio.create_task(graph.ainvoke(GIVEN))
    await store.write_count.wait()
    during = await store.aget(("capacity", "written"), "researcher")
    await running

    after = await store.aget(("capacity", "written"), "researcher")
    assert during is not None
    assert [count for count, _ in during.value["at_work"].values()] == [1]
    assert after is not None and not after.value["at_work"] and after.value["latency_s"] > 1


def make_pool(name: str) -> Team:
    """Make a team in which each worker is the fallback of the one before, the last of nobody."""
    made = make_team(name=name)
    fallbacks = ("analyst", "writer", "")
    workers = tuple(
        worker.model_copy(update={"fallback": other})
        for worker, other in zip(made.workers, fallbacks, strict=True)
    )
    return made.model_copy(update={"workers": workers})


async def load_latencies(team: str, **latency_s: float) -> TeamLoad:
    """Return the load of a team whose earlier attempts took these seconds."""
    store, load = InMemoryStore(), TeamLoad(team)
    for worker, seconds in latency_s.items():
        value = {"latency_s": seconds, "ended_at": now_s(), "at_work": {}}
        await store.aput(("capacity", team), worker, value)
    await load.load_from_store(store)
    return load


async def test_of_several_fallbacks_the_one_that_is_done_soonest_takes_a_busy_workers_request():
    made = make_pool("pool")
    load = await load_latencies("pool", researcher=5, analyst=8, writer=2)
    first = made.find_worker("researcher")

    with load.count_attempt("researcher", None):
        idle = choose_least_busy_worker(first, made, load).name
        with load.count_attempt("writer", None), load.count_attempt("writer", None):
            loaded = choose_least_busy_worker(first, made, load).name

    assert idle == "writer"
    assert loaded == "writer", "three attempts of 2 s end before one of 8 s"


async def test_a_busy_worker_keeps_a_request_that_slow_fallbacks_would_answer_later():
    made = make_pool("slow")
    load = await load_latencies("slow", researcher=1, analyst=10, writer=10)

    with load.count_attempt("researcher", None):
        chosen = choose_least_busy_worker(made.find_worker("researcher"), made, load)

    assert chosen.name == "researcher"


def test_fallbacks_in_a_circle_are_each_considered_once():
    made = make_pool("circle")
    last = made.workers[-1].model_copy(update={"fallback": "researcher"})
    made = made.model_copy(update={"workers": (*made.workers[:-1], last)})
    load = TeamLoad("circle")

    with load.count_attempt("researcher", None), load.count_attempt("analyst", None):
        assert choose_least_busy_worker(made.workers[0], made, load).name == "writer"


def make_circle(name: str, *, first_tier: Tier = "standard", **fields: Any) -> Team:
    """Make a team whose researcher and analyst are each other's fallback."""
    made = make_team(name=name, **fields)
    researcher, analyst, writer = made.workers
    workers = (
        researcher.model_copy(update={"fallback": "analyst", "tier": first_tier}),
        analyst.model_copy(update={"fallback": "researcher"}),
        writer,
    )
    return made.model_copy(update={"workers": workers})


async def list_moves(runs: Runs, made: Team) -> list[Any]:
    """Return the workers that got tasks of a plan for which all are the researcher's."""
    tasks = script_tasks({"a": (), "b": (), "c": (), "sum": ("a", "b", "c")})
    runs.script(*tuple(replace(t, worker="researcher") for t in tasks))
    events = await collect_events(made, runs)
    assert len(select_events(events, "report")) == 4
    assert all("is busy" in event["reason"] for event in select_events(events, "reassigned"))
    return sorted((e["task"], e["worker"]) for e in select_events(events, "task_started"))


async def test_tasks_of_a_plan_are_spread_over_workers_that_are_each_others_fallback(runs: Runs):
    moved = await list_moves(runs, make_circle("spread"))

    names = ("researcher", "analyst", "researcher", "researcher")
    assert moved == list(zip(("a", "b", "c", "sum"), names, strict=True))


@pytest.mark.parametrize(
    "made",
    [
        make_circle("kept", prefer_idle=False),
        make_circle("unequal", first_tier="fast"),
        make_named_team("one_way"),
    ],
    ids=lambda made: made.name,
)
async def test_tasks_of_a_plan_stay_where_workers_differ_or_the_team_does_not_want_it(
    runs: Runs, made: Team
):
    moved = await list_moves(runs, made)

    assert {worker for _, worker in moved} == {"researcher"}


@pytest.mark.slow
async def test_the_example_answers_each_request_at_a_desk():
    by_choice = await serve_requests(prefer_idle=False)
    by_load = await serve_requests(prefer_idle=True)

    assert {each.worker for each in by_choice} == {"north"}
    assert {each.worker for each in by_load} <= set(SECONDS)
    assert len(by_choice) == len(by_load) == REQUESTS


FAILED = {"status": "failed", "output": "the figures are not there"}


@pytest.mark.parametrize("hands_over", [True, False])
async def test_a_task_that_was_only_handed_over_leaves_the_run_partial(
    runs: Runs, hands_over: bool
):
    answers = {"status": "completed", "output": "Here it is.", "confidence": 90}
    first, second, *others = make_team().workers
    tasks = (ScriptedTask(id="A", worker=first.name, report=[FAILED, answers]),)
    runs.script(*tasks)
    workers = (
        first.model_copy(update={"fallback": second.name}),
        second.model_copy(update={"hands_over": hands_over}),
        *others,
    )
    team = make_team(ladder=("reassign",), workers=workers)

    outcome = await runs.run(team=team)

    assert outcome.results["A"].worker == second.name
    assert outcome.status == ("partial" if hands_over else "done")
    assert outcome.answer is not None
    assert any("which was handed over" in gap for gap in outcome.answer.gaps) == hands_over
