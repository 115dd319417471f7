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
from tests.postgres_server import run_query

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


def check_server(environment: dict[str, str]) -> tuple[int, str]:
    """Return the exit status of the check before a start, and what it writes."""
    command = [str(find_python()), "-m", "extensions.server.preflight"]
    ended = subprocess.run(
        command,
        cwd=environment["HOME"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return ended.returncode, ended.stderr


def test_the_check_has_nothing_to_say_about_right_settings(environment: dict[str, str]) -> None:
    assert check_server(environment) == (0, "")


@pytest.mark.parametrize(
    ("variables", "status", "said"),
    [
        ({"LANGGRAPH_STRICT_MSGPACK": ""}, 2, "LANGGRAPH_STRICT_MSGPACK is not true"),
        ({"LEASE_DURATION_SECONDS": "4"}, 2, "LEASE_DURATION_SECONDS (4) must be greater"),
        ({"WORKER_COUNT": "many"}, 2, "WORKER_COUNT: Input should be a valid integer"),
        ({"SUPERVISE_MAX_CONCURRENCY": "0"}, 2, "SUPERVISE_MAX_CONCURRENCY is '0'"),
        ({"DATABASE_URL": "postgresql://u:change-me@127.0.0.1/x"}, 2, "secrets.env.example"),
        ({"REDIS_URL": "redis://:pass@word@127.0.0.1/0"}, 2, "REDIS_URL is not an address"),
        ({"AEGRA_CONFIG": "/nowhere/langgraph.json"}, 2, "is no configuration that names graphs"),
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, 5, "Redis cannot be reached"),
        ({"DATABASE_URL": "postgresql://127.0.0.1:1/x"}, 5, "the database cannot be reached"),
        ({"DATABASE_URL": "mysql://127.0.0.1/x"}, 5, "DATABASE_URL is no address of PostgreSQL"),
    ],
)
def test_a_wrong_setting_is_one_line_and_no_start(
    environment: dict[str, str], variables: dict[str, str], status: int, said: str
) -> None:
    ended, written = start_server(environment | variables)

    assert ended == status
    [line] = written.strip().splitlines()
    assert line.startswith("error[") and said in line and "next: " in line


def test_a_role_without_rights_is_one_line_and_no_start(
    environment: dict[str, str], postgres: PostgresServer
) -> None:
    url = postgres.url.replace("postgres@", "reader@")

    ended, written = start_server(environment | {"DATABASE_URL": url})

    assert ended == 5
    [line] = written.strip().splitlines()
    assert "permission denied for schema public" in line and "GRANT CREATE" in line


def test_tables_of_another_role_are_named(
    environment: dict[str, str], postgres: PostgresServer
) -> None:
    run_query(postgres.url, "CREATE TABLE IF NOT EXISTS runs ()")
    run_query(postgres.url, "GRANT CREATE ON SCHEMA public TO reader")
    url = postgres.url.replace("postgres@", "reader@")

    ended, written = start_server(environment | {"DATABASE_URL": url})
    run_query(postgres.url, "REVOKE CREATE ON SCHEMA public FROM reader")
    run_query(postgres.url, "DROP TABLE runs")

    assert ended == 5
    assert "may not write in runs" in written


def test_a_password_is_not_written(environment: dict[str, str]) -> None:
    url = "postgresql://supervise:pw-hidden-7@127.0.0.1:1/x"

    _, written = start_server(environment | {"DATABASE_URL": url})

    assert "cannot be reached" in written and "pw-hidden-7" not in written


def test_doubtful_settings_are_a_line_each_and_no_obstacle(environment: dict[str, str]) -> None:
    doubtful = {"REDIS_BROKER_ENABLED": "false", "LANGSMITH_TRACING": "true"}

    ended, written = check_server(environment | doubtful)

    assert ended == 0
    first, second = written.strip().splitlines()
    assert first.startswith("warning: REDIS_BROKER_ENABLED is not true")
    assert second.startswith("warning: LANGSMITH_TRACING is true")


def test_a_server_that_is_started_without_the_check_refuses_too(
    environment: dict[str, str],
) -> None:
    command = [str(find_python()), "-m", "uvicorn", "aegra_api.main:app", "--port", "1"]

    ended = subprocess.run(
        command,
        cwd=environment["HOME"],
        env=environment | {"LANGGRAPH_STRICT_MSGPACK": "false"},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert ended.returncode != 0
    assert "error[SETTINGS_INVALID] LANGGRAPH_STRICT_MSGPACK is not true" in ended.stderr
    assert "Traceback" not in ended.stderr
