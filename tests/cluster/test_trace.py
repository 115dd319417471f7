"""The trace of a run that two instances did, read through the second."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from extensions.server.run_resume import aresume_on_server
from extensions.server.runs import alist_server_runs, aload_server_trace
from tests.cluster.cluster import TEAM, Cluster, require_cluster
from tests.endpoint import Scenario, run_endpoint_process, script_tasks

pytestmark = pytest.mark.slow
FIRST, REST = "abcd", "efgh"
TASKS = script_tasks({**dict.fromkeys(FIRST, ()), **{name: tuple(FIRST) for name in REST}})
REQUEST = {"request": "Compare the parts and say which one is best."}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    require_cluster()
    scenario = Scenario(tasks=TASKS, latency_s={"Report": 1.5})
    with (
        run_endpoint_process(scenario) as endpoint,
        Cluster(instances=2, endpoint=endpoint.base_url) as running,
    ):
        yield running


async def wait_for_reports(cluster: Cluster, thread: str, count: int) -> dict[str, Any]:
    while True:
        trace = await aload_server_trace(thread, cluster.instances[1].url)
        if sum(task["status"] == "completed" for task in trace["tasks"]) >= count:
            return trace
        await asyncio.sleep(0.1)  # another process works


async def test_a_killed_run_has_one_whole_trace_with_its_gap(cluster: Cluster) -> None:
    first = cluster.client(0)
    thread = (await first.threads.create())["thread_id"]
    run = await first.runs.create(thread, TEAM, input=REQUEST)
    before = await wait_for_reports(cluster, thread, len(FIRST))
    holder = cluster.find_holder(run["run_id"])
    assert holder
    other = next(each for each in cluster.instances if each is not holder)

    holder.kill()
    outcome = await asyncio.wait_for(aresume_on_server(thread, other.url), 60)
    trace = await aload_server_trace(thread, other.url)
    listed = await alist_server_runs(other.url)

    assert before["run"]["status"] == "running"
    assert (outcome.status, trace["run"]["status"]) == ("done", "done")
    kinds = [event["kind"] for event in trace["events"]]
    assert kinds.count("plan_created") == kinds.count("answer") == kinds.count("taken_over") == 1
    assert {task["status"] for task in trace["tasks"]} == {"completed"}
    reported = [event["task"] for event in trace["events"] if event["kind"] == "report"]
    assert sorted(reported) == sorted(FIRST + REST)
    times = [event["t"] for event in trace["events"]]
    gap = next(event["gap_s"] for event in trace["events"] if event["kind"] == "taken_over")
    assert times == sorted(times)
    assert 1.0 < gap < trace["timing"]["wall_s"]
    assert [(each["thread"], each["status"]) for each in listed.runs] == [(thread, "done")]


async def test_a_question_asked_on_one_instance_is_answered_through_the_other(
    cluster: Cluster,
) -> None:
    first = cluster.client(0)
    thread = (await first.threads.create())["thread_id"]
    run = await first.runs.create(thread, TEAM, input=REQUEST, context={"approve_plan": True})
    await asyncio.wait_for(first.runs.join(thread, run["run_id"]), 60)
    there = cluster.instances[1].url

    waiting = await aresume_on_server(thread, there)
    outcome = await asyncio.wait_for(aresume_on_server(thread, there, answer="accept"), 60)
    await first.threads.delete(thread)

    assert waiting.status == "needs_input"
    assert (outcome.status, len(outcome.results)) == ("done", len(FIRST + REST))
    kept = cluster.postgres.run_query(
        "SELECT count(*) FROM checkpoint_writes WHERE thread_id = %s", thread
    )
    assert kept == [(0,)]
