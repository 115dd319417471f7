"""Users of two instances of Aegra: nothing of one is in reach of another."""

from collections.abc import Iterator
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


def test_what_a_user_creates_is_the_users_whatever_the_metadata_says(world: World) -> None:
    checks.check_new_things_are_the_callers(world)
    checks.check_kept_stateless_runs_are_the_callers(world)


def test_an_assistant_of_a_user_is_not_published(world: World) -> None:
    checks.check_no_assistant_is_published(world)


def test_no_file_of_the_server_is_read(world: World, tmp_path: Path) -> None:
    checks.check_no_file_of_the_server_is_read(world, tmp_path)


def test_runs_that_repeat_take_a_permission(world: World) -> None:
    checks.check_crons_take_a_permission(world)


def test_a_proxy_names_the_user_of_a_request(world: World) -> None:
    checks.check_proxy_names_the_user(world)


def test_a_run_cannot_choose_a_model_of_another_address(world: World) -> None:
    checks.check_other_models_cannot_be_chosen(world)


async def test_only_the_owner_of_a_run_stops_its_task(world: World) -> None:
    await checks.check_only_the_owner_stops_a_task(world)  # the last test: it ends the run
