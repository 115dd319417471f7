"""How a server starts: by `deploy/start`, and not at all with settings that would lose runs."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.cluster import SERVER_VARIABLES, require_cluster
from tests.cluster.environment import ROOT, find_python
from tests.cluster.services import PostgresServer, RedisServer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that PostgreSQL's own user may enter, unlike those of pytest."""
    require_cluster()
    made = Path(tempfile.mkdtemp(prefix="start-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def postgres(folder: Path) -> Iterator[PostgresServer]:
    running = PostgresServer(folder / "postgres")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def redis(folder: Path) -> Iterator[RedisServer]:
    running = RedisServer(folder / "redis")
    yield running
    running.kill()


@pytest.fixture
def environment(postgres: PostgresServer, redis: RedisServer, tmp_path: Path) -> dict[str, str]:
    path = os.pathsep.join((str(find_python().parent), os.environ["PATH"]))
    own = {"PATH": path, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    config = {"AEGRA_CONFIG": str(ROOT / "langgraph.json")}
    addresses = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
    return {**own, **config, **addresses, **SERVER_VARIABLES}


def start_server(environment: dict[str, str]) -> tuple[int, str]:
    """Return the exit status of a start that is refused, and what it writes."""
    ended = subprocess.run(
        [ROOT / "deploy" / "start", "1"],
        cwd=environment["HOME"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return ended.returncode, ended.stderr


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"LANGGRAPH_STRICT_MSGPACK": ""}, "LANGGRAPH_STRICT_MSGPACK is not true"),
        ({"SUPERVISE_MAX_CONCURRENCY": "0"}, "SUPERVISE_MAX_CONCURRENCY is '0'"),
        ({"DATABASE_URL": "postgresql://u:change-me@127.0.0.1/x"}, "secrets.env.example"),
        ({"REDIS_URL": "redis://:pass@word@127.0.0.1/0"}, "REDIS_URL is not an address"),
    ],
)
def test_a_wrong_setting_is_one_line_and_no_start(
    environment: dict[str, str], variables: dict[str, str], said: str
) -> None:
    ended, written = start_server(environment | variables)

    assert ended != 0
    [line] = [each for each in written.splitlines() if each.startswith("error[")]
    assert said in line and "next: " in line and "Traceback" not in written
