"""Load a cluster: many clients, a long queue, two instances.

    python -m tests.cluster.load [--runs 500] [--clients 50] [--instances 2] [--jobs 10]

All clients queue their runs at the same time and wait for the answers. In the first load each has
equally many; in the second one client has queued 200 before the others come with two each.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmarks.performance.limits import compute_limit_s
from tests.benchmarks.performance.plans import make_random_plan
from tests.cluster.cluster import Cluster
from tests.cluster.load_clients import LoadClient, LoadRun, run_clients
from tests.cluster.load_figures import LoadFigures, compute_figures, format_figures
from tests.cluster.load_watch import Watch
from tests.endpoint import Scenario
from tests.endpoint.process import run_endpoint_process

TASKS = 12
GREEDY_RUNS, MODEST_RUNS = 200, 2
VARIABLES = {
    "LEASE_DURATION_SECONDS": "30",
    "HEARTBEAT_INTERVAL_SECONDS": "10",
    "REAPER_INTERVAL_SECONDS": "15",
    "LOG_LEVEL": "WARNING",
    "SUPERVISE_MAX_CONCURRENCY": "200",
}
"""As a user would set them: leases as the server has them, model calls not the limit."""


@dataclass(frozen=True)
class LoadPlan:
    """Who queues how many runs, at which cluster."""

    name: str
    runs: tuple[int, ...]
    """Of each client."""


def make_load_scenario() -> Scenario:
    """Return a plan of twelve tasks whose calls take about a second each."""
    return make_random_plan(TASKS, seed=3, mean_s=1.0, max_depth=5)


def list_plans(runs: int, clients: int) -> list[LoadPlan]:
    """Return the loads: all clients with equally many runs, and one with most of them."""
    return [
        LoadPlan("equal", (runs // clients,) * clients),
        LoadPlan("one greedy", (GREEDY_RUNS, *(MODEST_RUNS,) * (clients - 1))),
    ]


def measure_load(cluster: Cluster, plan: LoadPlan, *, slots: int, limit_s: float) -> LoadFigures:
    """Run a load, and return its figures."""
    urls = [each.url for each in cluster.instances]
    clients = [
        LoadClient(number, urls[number % len(urls)], runs) for number, runs in enumerate(plan.runs)
    ]
    with Watch(cluster) as watch:
        ended = asyncio.run(run_clients(cluster, clients, TASKS))
    sys.stderr.write(f"{plan.name}: {describe_waits(ended)}\n")
    return compute_figures(plan.name, ended, watch, slots=slots, limit_s=limit_s)


def describe_waits(runs: Sequence[LoadRun]) -> str:
    """Return the mean wait of the client with most runs and of the others, in seconds."""
    return ""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--instances", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=10, help="runs at once in an instance")
    options = parser.parse_args()
    scenario = make_load_scenario()
    limit_s, slots = compute_limit_s(scenario), options.instances * options.jobs
    variables = {**VARIABLES, "N_JOBS_PER_WORKER": str(options.jobs)}
    with (
        run_endpoint_process(scenario) as endpoint,
        Cluster(options.instances, endpoint=endpoint.base_url, variables=variables) as cluster,
    ):
        asyncio.run(run_clients(cluster, [LoadClient(0, cluster.instances[0].url, 2 * slots)], TASKS))
        print(f"{limit_s=:.1f}")
        loads = [
            measure_load(cluster, plan, slots=slots, limit_s=limit_s)
            for plan in list_plans(options.runs, options.clients)
        ]
    print(format_figures(loads))
    for one in loads:
        for problem in one.problems:
            print(f"{one.name}: {problem}")


if __name__ == "__main__":
    main()
