"""Users of two instances of Aegra: nothing of one is in reach of another."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import require_cluster
from tests.endpoint import Endpoint
from tests.tenants import checks
from tests.tenants.aegra import cluster_with_users
from tests.tenants.calls import CALLS, Call
from tests.tenants.world import World, build_world, write_users

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tenants_aegra")]
SERVED = [call for call in CALLS if call.aegra is not None]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Alice's things were made at the first instance; Bob calls the second."""
    require_cluster()
    folder: Path = tmp_path_factory.mktemp("tenants")
    tokens = write_users(folder / "users.json")
    with (
        Endpoint().run_in_thread() as endpoint,
        cluster_with_users(folder / "users.json", endpoint, SUPERVISE_USER_RUNS="30") as cluster,
    ):
        world = build_world(cluster.instances[0].url, tokens, endpoint)
        world.url = cluster.instances[1].url
        yield world


@pytest.fixture(scope="module")
def before(world: World) -> dict[str, Any]:
    return world.read()


@pytest.mark.parametrize("call", SERVED, ids=str)
def test_a_call_reaches_nothing_of_another_user(
    world: World, before: dict[str, Any], call: Call
) -> None:
    assert call.aegra is not None
    checks.check_call(world, call, call.aegra, before)


def test_every_call_takes_a_token(world: World) -> None:
    checks.check_token_is_needed(world, SERVED)


@pytest.mark.parametrize("check", checks.OF_EVERY_SERVER, ids=lambda check: check.__name__)
def test_what_holds_on_every_server_with_users(
    world: World, check: Callable[[World], None]
) -> None:
    check(world)


def test_no_file_of_the_server_is_read(world: World, tmp_path: Path) -> None:
    checks.check_no_file_of_the_server_is_read(world, tmp_path)


async def test_only_the_owner_of_a_run_stops_its_task(world: World) -> None:
    await checks.check_only_the_owner_stops_a_task(world)  # the last test: it ends the run
