"""How many runs a user may have, and how many may wait, on both servers."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.cluster.cluster import require_cluster
from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.integration.dev_server import dev_server
from tests.tenants.aegra import cluster_with_users
from tests.tenants.calls import ASK
from tests.tenants.world import World, write_users

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tenants_limits")]
SLOW = Scenario(tasks=script_tasks({"A": ()}, latency_s={"A": 600.0}))
LIMITS = {
    "SUPERVISE_USER_RUNS": "3",
    "SUPERVISE_WAITING_RUNS": "4",
    "SUPERVISE_MAX_BODY_BYTES": "1000000",
    "SUPERVISE_USER_THREADS": "4",
}


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[World]:
    tokens = write_users(tmp_path / "users.json")
    with Endpoint(SLOW).run_in_thread() as endpoint:
        env = {
            "OPENAI_API_KEY": "sk-test-0123456789abcdef",
            "OPENAI_BASE_URL": endpoint.base_url,
            "SUPERVISE_USERS": str(tmp_path / "users.json"),
        }
        with dev_server(tmp_path, **env, **LIMITS) as server:
            yield World(server.url, tokens)


@pytest.fixture
def aegra(tmp_path: Path) -> Iterator[World]:
    require_cluster()
    tokens = write_users(tmp_path / "users.json")
    with (
        Endpoint(SLOW).run_in_thread() as endpoint,
        cluster_with_users(
            tmp_path / "users.json", endpoint, instances=1, N_JOBS_PER_WORKER="1", **LIMITS
        ) as cluster,
    ):
        yield World(cluster.instances[0].url, tokens)


@pytest.mark.parametrize("kind", ["dev", "aegra"])
def test_a_user_has_a_share_and_the_queue_an_end(kind: str, request: pytest.FixtureRequest) -> None:
    server: World = request.getfixturevalue(kind)

    too_many, full = check_limits(server)

    assert {too_many.headers["retry-after"], full.headers["retry-after"]} == {"5"}
    check_body_limit(server)
    check_thread_limit(server)


def check_limits(world: World) -> tuple[httpx.Response, httpx.Response]:
    """Return the refusals of a user's fourth run, and of a run that finds the queue full."""
    alice = [start(world, "alice") for _ in range(4)]
    check_that_an_end_makes_room(world, alice[1])
    others = [start(world, user) for user in ("carol",) * 3 + ("bob",) * 3]

    assert [answer.status_code for answer in alice] == [200, 200, 200, 429]
    assert "3 of your runs wait or are at work" in alice[3].text
    assert (others[0].status_code, others[-1].status_code) == (200, 503)
    assert "the queue is full: 4 runs wait" in others[-1].text
    return alice[3], others[-1]


def start(world: World, user: str) -> httpx.Response:
    """Start a run on the one thread of a user; its runs wait for each other."""
    if user not in world.ids:
        world.ids[user] = world.send(user, "POST", "/threads", {}).json()["thread_id"]
    body = {**ASK, "multitask_strategy": "enqueue"}
    return world.send(user, "POST", f"/threads/${user}/runs", body)


def check_that_an_end_makes_room(world: World, started: httpx.Response) -> None:
    run = started.json()["run_id"]
    cancelled = world.send("alice", "POST", f"/threads/$alice/runs/{run}/cancel?wait=0", {})

    assert cancelled.is_success
    gives_up_s = time.monotonic() + 10
    while start(world, "alice").status_code != 200:
        assert time.monotonic() < gives_up_s
        time.sleep(0.2)  # a run that was just admitted counts for two seconds


def check_body_limit(world: World) -> None:
    large = json.dumps({**ASK, "input": {"request": "x", "materials": {"a": "y" * 1_100_000}}})
    with world.client("bob") as client:
        announced = client.post("/runs", content=large)
        chunked = client.post("/runs", content=iter([large.encode()]))

    assert {announced.status_code, chunked.status_code} == {413}
    assert "SUPERVISE_MAX_BODY_BYTES" in announced.text


def check_thread_limit(world: World) -> None:
    answers = [world.send("alice", "POST", "/threads", {}) for _ in range(5)]
    kept = [answer for answer in answers if answer.is_success]
    refused = [answer for answer in answers if not answer.is_success]

    assert world.send("", "GET", "/metrics").status_code == 401
    assert world.send("alice", "GET", "/metrics").status_code != 401
    assert len(kept) == 3  # and the one of her runs
    assert {answer.status_code for answer in refused} == {429}
    assert "DELETE /threads/THREAD" in refused[0].text
    deleted = world.send("alice", "DELETE", f"/threads/{kept[0].json()['thread_id']}")
    assert deleted.is_success
    gives_up_s = time.monotonic() + 10
    while world.send("alice", "POST", "/threads", {}).status_code != 200:
        assert time.monotonic() < gives_up_s
        time.sleep(0.2)  # one that was just admitted counts for two seconds
