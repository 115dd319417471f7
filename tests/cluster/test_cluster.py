"""The cluster that the other tests use: two instances share their runs."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.cluster.cluster import TEAM, Cluster, require_cluster
from tests.endpoint import Scenario, run_endpoint_process, script_tasks

pytestmark = pytest.mark.slow
PARTS = script_tasks({"A": (), "B": ("A",)})


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    require_cluster()
    with (
        run_endpoint_process(Scenario(tasks=PARTS)) as endpoint,
        Cluster(instances=2, endpoint=endpoint.base_url) as running,
    ):
        yield running


async def test_a_run_through_one_instance_is_read_at_the_other(cluster: Cluster) -> None:
    first, second = cluster.client(0), cluster.client(1)
    thread = (await first.threads.create())["thread_id"]

    run = await first.runs.create(thread, TEAM, input={"request": "Compare the parts."})
    await asyncio.wait_for(first.runs.join(thread, run["run_id"]), 60)
    state = await second.threads.get_state(thread)

    assert (await second.runs.get(thread, run["run_id"]))["status"] == "success"
    assert isinstance(state["values"], dict)
    assert state["values"]["status"] == "done"
    assert set(state["values"]["results"]) == {"A", "B"}
