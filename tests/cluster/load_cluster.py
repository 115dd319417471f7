"""A cluster with users and an endpoint in a process of its own, whose plan can be exchanged."""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from extensions.server.authentication import USER_HEADER
from extensions.server.users_file import add_user
from tests.cluster.cluster import TEAM, Cluster
from tests.cluster.environment import ROOT
from tests.cluster.load_clients import REQUEST, LoadClient, LoadRun, run_clients
from tests.cluster.load_figures import LoadFigures, compute_figures
from tests.cluster.load_watch import Watch
from tests.endpoint import Scenario
from tests.endpoint.process import run_endpoint_process
from tests.local_servers import find_free_port

WIDE: Final = "wide"
"""The name of the team that plans up to a hundred tasks."""
WARM_UP_RUNS: Final = 4
"""At each instance, not measured."""
UNLIMITED: Final = "100000"
VARIABLES: Final[Mapping[str, str]] = {
    "LEASE_DURATION_SECONDS": "30",
    "HEARTBEAT_INTERVAL_SECONDS": "10",
    "REAPER_INTERVAL_SECONDS": "15",
    "LOG_LEVEL": "WARNING",
    "SUPERVISE_MAX_CONCURRENCY": "1000",
    "SUPERVISE_USER_RUNS": UNLIMITED,
    "SUPERVISE_WAITING_RUNS": UNLIMITED,
}
"""Aegra's own leases; neither model calls nor users are limited, unless a load says so."""


@dataclass(frozen=True)
class LoadCluster:
    """A cluster that is measured under load."""

    cluster: Cluster
    endpoint_port: int
    token: str
    """Of a proxy, which names each client as a user of its own."""

    def set_variables(self, **variables: str) -> None:
        """Start all instances again, with changed variables."""
        for instance in self.cluster.instances:
            instance.variables.update(variables)
            instance.stop()
            instance.start()
        for instance in self.cluster.instances:
            instance.wait_ready()

    def measure(
        self,
        name: str,
        scenario: Scenario,
        runs: Sequence[int],
        *,
        slots: int,
        team: str = TEAM,
        materials: Mapping[str, str] | None = None,
    ) -> tuple[LoadFigures, list[LoadRun]]:
        """Let each client queue its number of runs; return the figures and the runs.

        Args:
            slots: runs that all instances may work on at once.
        """
        given = {**REQUEST, "materials": dict(materials or {})}
        with run_endpoint_process(scenario, port=self.endpoint_port):
            tasks = len(scenario.tasks)
            warming = self._build_clients(
                (WARM_UP_RUNS,) * len(self.cluster.instances), team, given
            )
            asyncio.run(run_clients(self.cluster, warming, tasks))
            clients = self._build_clients(runs, team, given)
            with Watch(self.cluster) as watch:
                ended = asyncio.run(run_clients(self.cluster, clients, tasks))
        return compute_figures(name, ended, watch, scenario, slots), ended

    def _build_clients(
        self, runs: Sequence[int], team: str, given: Mapping[str, object]
    ) -> list[LoadClient]:
        urls = [each.url for each in self.cluster.instances]
        return [
            LoadClient(
                number,
                urls[number % len(urls)],
                count,
                headers={"Authorization": f"Bearer {self.token}", USER_HEADER: f"user-{number}"},
                team=team,
                given=given,
            )
            for number, count in enumerate(runs)
        ]


@contextmanager
def start_load_cluster(instances: int, **variables: str) -> Iterator[LoadCluster]:
    """Start a cluster with users; everything ends with the block."""
    port = find_free_port()
    with tempfile.TemporaryDirectory(prefix="load-") as name:
        folder = Path(name)
        token = add_user(folder / "users.json", "gateway", is_proxy=True)
        graphs = {
            TEAM: f"{ROOT}/teams/{TEAM}/studio.py:graph",
            WIDE: f"{ROOT}/tests/cluster/wide_team.py:graph",
        }
        config = folder / "aegra.json"
        auth = {"path": f"{ROOT}/extensions/server/auth.py:auth"}
        config.write_text(json.dumps({"graphs": graphs, "auth": auth}), encoding="utf-8")
        with Cluster(
            instances,
            endpoint=f"http://127.0.0.1:{port}/v1",
            config=config,
            variables={**VARIABLES, "SUPERVISE_USERS": str(folder / "users.json"), **variables},
        ) as cluster:
            yield LoadCluster(cluster, port, token)
