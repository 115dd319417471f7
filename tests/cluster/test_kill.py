"""The promise of a cluster, once and small enough for every change: a dead server loses no run."""

import asyncio

import pytest

from tests.cluster.cluster import HEARTBEAT_S, LEASE_S, REAPER_S, TEAM, Cluster, require_cluster
from tests.cluster.test_deployed import REQUEST, wait_for_holder, wait_for_run
from tests.endpoint import Endpoint, Scenario, script_tasks

pytestmark = pytest.mark.slow
PARTS = script_tasks({"A": (), "B": ("A",), "C": ("B",)}, latency_s=1.5)


async def test_a_run_whose_server_is_killed_is_finished_by_the_other() -> None:
    require_cluster()
    async with Endpoint(Scenario(tasks=PARTS)) as endpoint:
        with Cluster(2, endpoint=endpoint.base_url) as cluster:
            client = cluster.client(0)
            thread = (await client.threads.create())["thread_id"]
            run = (await client.runs.create(thread, TEAM, input=REQUEST))["run_id"]
            await endpoint.wait_for_calls(3, ended=2)  # the plan and A are done, B is at work
            holder = await wait_for_holder(cluster, run)
            other = cluster.client(1 if holder is cluster.instances[0] else 0)

            holder.kill()
            async with asyncio.timeout(LEASE_S + REAPER_S + HEARTBEAT_S + 20):
                ended = await wait_for_run(other, thread, run)
            state = await other.threads.get_state(thread)

    assert ended["status"] == "success"
    assert isinstance(state["values"], dict) and state["values"]["status"] == "done"
    assert set(state["values"]["results"]) == {"A", "B", "C"}
    assert len(endpoint.select_calls("Plan")) == 1
    assert len(endpoint.select_calls("Report", "A")) == 1
