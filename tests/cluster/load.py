"""Load a cluster: many clients, a long queue, several instances.

    python -m tests.cluster.load [--runs 500] [--clients 50] [--instances 2] [--jobs 10]

Every client is a user, queues its runs at once and waits for the answers. First all have equally
many; then one has queued 200 before the others come with one each: without a limit, and where a
user may have as many open runs as the cluster does at once.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from tests.benchmarks.performance.plans import make_random_plan
from tests.cluster.load_clients import LoadRun
from tests.cluster.load_cluster import LoadCluster, start_load_cluster
from tests.cluster.load_figures import LOAD_ROWS, LoadFigures, format_figures
from tests.cluster.table import Row
from tests.endpoint import Scenario

JOBS: Final = 10
GREEDY_RUNS: Final = 200
MODEST_RUNS: Final = 1


def make_load_scenario(tasks: int = 12, mean_s: float = 0.7) -> Scenario:
    """Return a plan whose calls take about `mean_s` seconds each."""
    return make_random_plan(tasks, seed=3, mean_s=mean_s, max_depth=5)


MAX_GROWTH: Final = 0.05
"""Of an instance's memory, from the middle to the last third of a load."""


def run_part(is_quick: bool) -> Iterator[Row]:
    """Load two instances; a row for each load."""
    runs = 100 if is_quick else 500
    with start_load_cluster(2, N_JOBS_PER_WORKER=str(JOBS)) as running:
        for figures, ended in measure_loads(running, runs, 50, 2 * JOBS):
            described = (
                f"{figures.throughput:.2f} of the limit, memory {figures.memory_growth:+.1%}, "
                f"{figures.instance_ms:.0f} ms a run; {describe_waits(ended)}"
            )
            problem = "memory grows" if figures.memory_growth > MAX_GROWTH else ""
            problem = next(iter(figures.problems), problem)
            yield Row(figures.name, figures.runs, figures.right, described, problem)


def measure_loads(
    running: LoadCluster, runs: int, clients: int, slots: int
) -> Iterator[tuple[LoadFigures, list[LoadRun]]]:
    """Yield the figures and the runs of each load."""
    scenario = make_load_scenario()
    greedy = (GREEDY_RUNS, *(MODEST_RUNS,) * (clients - 1))
    yield running.measure("equal", scenario, (runs // clients,) * clients, slots=slots)
    yield running.measure("one greedy", scenario, greedy, slots=slots)
    running.set_variables(SUPERVISE_USER_RUNS=str(slots))
    yield running.measure(f"one greedy, at most {slots} a user", scenario, greedy, slots=slots)


def describe_waits(runs: Sequence[LoadRun]) -> str:
    """Return what the first client's runs waited, and what those of the others did."""
    first = sorted(run.waited_s for run in runs if run.client == 0)
    others = sorted(run.waited_s for run in runs if run.client)
    refusals = sum(run.refusals for run in runs)
    return (
        f"the first client's runs ended after {first[0]:.0f} to {first[-1]:.0f} s, those of the "
        f"others after {others[0]:.0f} to {others[-1]:.0f} s, median "
        f"{statistics.median(others):.0f} s; {refusals} refusals"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--instances", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=JOBS, help="runs at once in an instance")
    options = parser.parse_args()
    slots = options.instances * options.jobs
    with start_load_cluster(options.instances, N_JOBS_PER_WORKER=str(options.jobs)) as running:
        measured = list(measure_loads(running, options.runs, options.clients, slots))
    loads = [figures for figures, _ in measured]
    lines = [f"{figures.name}: {describe_waits(ended)}" for figures, ended in measured]
    lines += [f"{one.name}: {problem}" for one in loads for problem in one.problems]
    sys.stdout.write("\n\n".join([format_figures(loads, LOAD_ROWS), *lines, ""]))


if __name__ == "__main__":
    main()
