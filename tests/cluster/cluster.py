"""A cluster: instances of Aegra over one PostgreSQL and one Redis, which ends with its block."""

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.cluster.aegra_config import write_config
from tests.cluster.env_file import read_env_file
from tests.cluster.environment import ROOT, ClusterUnavailable, find_python
from tests.cluster.instance import Instance
from tests.cluster.services import PostgresServer, RedisServer
from tests.local_servers import find_free_port

TEAM: Final = "market_analysis"
LEASE_S: Final = 6
HEARTBEAT_S: Final = 2
REAPER_S: Final = 2
SERVER_VARIABLES: Final[Mapping[str, str]] = {
    **read_env_file(),
    "LEASE_DURATION_SECONDS": str(LEASE_S),
    "HEARTBEAT_INTERVAL_SECONDS": str(HEARTBEAT_S),
    "REAPER_INTERVAL_SECONDS": str(REAPER_S),
}
"""What each instance is started with: as shipped, but for a short lease.

`Cluster(variables=…)` overrides single ones.
"""


def require_cluster() -> None:
    """Skip the test that calls this, with the reason, where no cluster can be started."""
    try:
        find_python()
    except ClusterUnavailable as reason:
        pytest.skip(str(reason))
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")


class Cluster:
    """Starts everything on entry, and ends everything on exit, also after a failure.

    `endpoint` is the address of a model endpoint with its `/v1`; without one the teams use the
    embedded model. `teams` are the shipped teams to serve, all if empty; `config` replaces
    `langgraph.json`. `variables` are added to every instance, `own_variables` to that of an
    index, which may also have `own_teams`. With `uses_script` the instances are started by
    `deploy/start`.
    """

    def __init__(
        self,
        instances: int = 2,
        *,
        endpoint: str = "",
        teams: Sequence[str] = (TEAM,),
        config: Path | None = None,
        variables: Mapping[str, str] | None = None,
        own_variables: Mapping[int, Mapping[str, str]] | None = None,
        own_teams: Mapping[int, Sequence[str]] | None = None,
        folder: Path | None = None,
        uses_script: bool = False,
    ) -> None:
        self._count, self._endpoint, self._teams, self._config = instances, endpoint, teams, config
        self._variables, self._own_variables = dict(variables or {}), dict(own_variables or {})
        self._own_teams = dict(own_teams or {})
        self._given_folder, self._uses_script = folder, uses_script
        self._stack = ExitStack()
        self.instances: list[Instance] = []
        self.postgres: PostgresServer
        self.redis: RedisServer
        self.folder: Path

    def __enter__(self) -> Self:
        python = find_python()
        with ExitStack() as stack:  # what has started ends if something later fails
            self.folder = self._given_folder or Path(tempfile.mkdtemp(prefix="cluster-"))
            if self._given_folder is None:
                stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self._start_services(stack)
            for index in range(self._count):
                instance = self._build_instance(index, python)
                self.instances.append(instance)
                stack.callback(instance.stop)
                instance.start()
                if index == 0:  # it migrates the database
                    instance.wait_ready()
            for instance in self.instances:
                instance.wait_ready()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            sys.stderr.write(self.format_logs())
        self._stack.close()

    def client(self, index: int = 0) -> LangGraphClient:
        """Return a client of one instance."""
        return get_client(url=self.instances[index].url, api_key=None)

    def find_holder(self, run_id: str) -> Instance | None:
        """Return the instance that works on a run; None if none does."""
        rows = self.postgres.run_query("SELECT claimed_by FROM runs WHERE run_id = %s", run_id)
        claimed = str(rows[0][0]) if rows else ""
        return next((each for each in self.instances if f"-{each.pid}-worker-" in claimed), None)

    def format_logs(self, characters: int = 3000) -> str:
        """Return the end of each instance's log."""
        kept = [each for each in self.instances if each.log.exists()]
        return "\n".join(f"--- {each.name}\n{each.read_log()[-characters:]}" for each in kept)

    def _start_services(self, stack: ExitStack) -> None:
        self.postgres = PostgresServer(self.folder / "postgres")
        stack.callback(self._stop_postgres)
        self.redis = RedisServer(self.folder / "redis")
        stack.callback(self.redis.kill)

    def _stop_postgres(self) -> None:
        if (self.postgres.folder / "postmaster.pid").exists():
            self.postgres.stop()

    def _build_instance(self, index: int, python: Path) -> Instance:
        name = chr(ord("A") + index)
        folder = self.folder / f"instance-{name}"
        folder.mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join((str(python.parent), os.environ.get("PATH", os.defpath)))
        config = self._config or write_config(folder, self._own_teams.get(index, self._teams))
        variables = {"PATH": path} | self._build_variables(folder, config) | self._variables
        variables |= self._own_variables.get(index, {})
        return Instance(
            name,
            python=python,
            port=find_free_port(),
            folder=folder,
            variables=variables,
            uses_script=self._uses_script,
        )

    def _build_variables(self, folder: Path, config: Path) -> dict[str, str]:
        return {
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NO_COLOR": "1",
            "AEGRA_CONFIG": str(config),
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.redis.url,
            **SERVER_VARIABLES,
            **(_name_models(self._endpoint) if self._endpoint else {}),
        }


def _name_models(endpoint: str) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": endpoint,
        "OPENAI_API_KEY": "sk-test-0123456789abcdef",
        "SUPERVISE_MODEL_FAST": "openai:gpt-5-mini",
        "SUPERVISE_MODEL_STANDARD": "openai:gpt-5-mini",
        "SUPERVISE_MODEL_STRONG": "openai:gpt-5",
    }
