"""Two servers as `deploy/` starts them: by its script, with its settings and `langgraph.json`."""

import asyncio
import http.client
import json
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIStatusError

from tests.cluster.aegra_config import SHIPPED
from tests.cluster.cluster import TEAM, Cluster, require_cluster
from tests.cluster.env_file import read_env_file
from tests.cluster.instance import Instance
from tests.endpoint import EndpointProcess, Scenario, run_endpoint_process, script_tasks

pytestmark = pytest.mark.slow
PARTS = script_tasks({"A": (), "B": ("A",)}, latency_s=1.0)
REQUEST = {"request": "Compare the parts."}
OTHER = "code_review"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[EndpointProcess]:
    require_cluster()
    with run_endpoint_process(Scenario(tasks=PARTS)) as running:
        yield running


@pytest.fixture(scope="module")
def cluster(endpoint: EndpointProcess) -> Iterator[Cluster]:
    variables = read_env_file()
    with Cluster(
        2, endpoint=endpoint.base_url, teams=(), variables=variables, uses_script=True
    ) as running:
        yield running


async def start_run(client: LangGraphClient, team: str = TEAM) -> tuple[str, str]:
    thread = (await client.threads.create())["thread_id"]
    run = await client.runs.create(thread, team, input=REQUEST)
    return thread, run["run_id"]


async def wait_for_run(client: LangGraphClient, thread: str, run: str) -> dict[str, Any]:
    """Return a run when it has ended; a server that takes over must not be asked by `join`."""
    async with asyncio.timeout(90):
        while True:
            found = await client.runs.get(thread, run)
            if found["status"] not in ("pending", "running"):
                return dict(found)
            await asyncio.sleep(0.1)


def send_request(instance: Instance, path: str, body: str = "") -> tuple[int, str]:
    """Return status and text of the answer to a GET, or to a POST if there is a body."""
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=10)
    try:
        headers = {"content-type": "application/json"}
        connection.request("POST" if body else "GET", path, body or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


async def test_a_run_through_each_server_ends_right(cluster: Cluster) -> None:
    for index in (0, 1):
        client = cluster.client(index)
        thread, run = await start_run(client)

        ended = await wait_for_run(client, thread, run)
        state = await client.threads.get_state(thread)

        assert ended["status"] == "success"
        assert isinstance(state["values"], dict) and state["values"]["status"] == "done"


async def test_every_shipped_team_is_served_with_its_description(cluster: Cluster) -> None:
    listed = json.loads(SHIPPED.read_text(encoding="utf-8"))["graphs"]

    found = await cluster.client().assistants.search(limit=100)

    assert {each["graph_id"]: each["description"] for each in found} == {
        name: entry["description"] for name, entry in listed.items()
    }


async def test_a_misspelt_setting_of_a_run_is_refused(cluster: Cluster) -> None:
    client = cluster.client()
    thread = (await client.threads.create())["thread_id"]

    with pytest.raises(APIStatusError) as refused:
        await client.runs.create(thread, TEAM, input=REQUEST, context={"max_tokns": 5})

    assert refused.value.response.status_code == 422
    assert "max_tokens" in refused.value.response.text


async def test_a_team_that_no_server_has_is_refused_when_it_is_asked_for(cluster: Cluster) -> None:
    client = cluster.client()
    thread = (await client.threads.create())["thread_id"]

    with pytest.raises(APIStatusError) as refused:
        await client.runs.create(thread, "no_such_team", input=REQUEST)

    assert refused.value.response.status_code == 404


async def test_a_server_that_is_told_to_end_finishes_its_runs_first(cluster: Cluster) -> None:
    first = cluster.instances[0]
    thread, run = await start_run(cluster.client(0))
    holder = await wait_for_holder(cluster, run)
    other = cluster.client(1 if holder is first else 0)

    holder.terminate()
    began_s = time.monotonic()
    status = await asyncio.to_thread(holder.wait_ended)
    took_s = time.monotonic() - began_s
    ended = await wait_for_run(other, thread, run)
    holder.start()
    await asyncio.to_thread(holder.wait_ready)

    assert status in (0, -signal.SIGTERM) and took_s < 40  # uvicorn ends by the signal itself
    assert ended["status"] == "success"
    assert "Worker finished run" in holder.read_log()


async def wait_for_holder(cluster: Cluster, run: str) -> Instance:
    async with asyncio.timeout(30):
        while True:
            if holder := cluster.find_holder(run):
                return holder
            await asyncio.sleep(0.05)


async def test_a_server_without_redis_is_alive_and_not_ready(cluster: Cluster) -> None:
    first = cluster.instances[0]
    assert send_request(first, "/ready")[0] == 200

    cluster.redis.kill()
    ready, alive = send_request(first, "/ready"), send_request(first, "/live")
    cluster.redis.start()

    assert ready[0] == 503 and "Redis does not answer" in ready[1]
    assert alive[0] == 200
    first.wait_ready()


def test_a_server_without_its_database_is_alive_and_not_ready(cluster: Cluster) -> None:
    first = cluster.instances[0]

    cluster.postgres.kill()
    ready, alive = send_request(first, "/ready"), send_request(first, "/live")
    cluster.postgres.start()

    assert ready[0] == 503 and alive[0] == 200
    first.wait_ready()


async def test_a_run_whose_team_is_not_on_the_server_that_takes_it_fails_in_words(
    endpoint: EndpointProcess,
) -> None:
    with Cluster(
        2,
        endpoint=endpoint.base_url,
        teams=(TEAM,),
        own_variables={0: {"WORKER_COUNT": "0"}},
        own_teams={1: (OTHER,)},
    ) as cluster:
        client = cluster.client(0)
        thread, run = await start_run(client)
        ended = await wait_for_run(client, thread, run)
        [[error]] = cluster.postgres.run_query(
            "SELECT error_message FROM runs WHERE run_id = %s", run
        )

    assert ended["status"] == "error"
    assert TEAM in str(error) and "\n" not in str(error)
