"""Measure what one instance carries, and what a run costs by the size of its plan.

    python -m tests.cluster.capacity [--quick]

The first table has plans of 5, 12 and 100 tasks whose calls take almost no time, so that the
processor is the limit; the second has 12 tasks of about a second, with more and more runs at once.
Both are of one instance; the model's endpoint is simulated.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tests.benchmarks.performance.plans import make_random_plan
from tests.cluster.cluster import TEAM
from tests.cluster.load import make_load_scenario
from tests.cluster.load_cluster import WIDE, LoadCluster, start_load_cluster
from tests.cluster.load_figures import SIZE_ROWS, SLOT_ROWS, LoadFigures, format_figures
from tests.endpoint import Scenario

INSTANT_S: Final = 0.01
SIZES: Final = ((5, TEAM, 60), (12, TEAM, 60), (100, WIDE, 20))
"""Tasks, team and runs."""
SLOTS: Final = (10, 30, 60, 120)
SIZE_SLOTS: Final = 10
CLIENTS: Final = 10
MATERIAL_BYTES: Final = 100_000


def make_instant_scenario(tasks: int) -> Scenario:
    """Return a plan whose calls take ten milliseconds each."""
    plan = make_random_plan(tasks, seed=3, mean_s=INSTANT_S, max_depth=5)
    return replace(plan, latency_s={"Plan": INSTANT_S, "Answer": INSTANT_S})


def measure_sizes(running: LoadCluster) -> list[LoadFigures]:
    """Return the cost of runs by the number of their tasks, and of one with a material."""
    found = [
        running.measure(
            f"{tasks} tasks",
            make_instant_scenario(tasks),
            _share(runs),
            slots=SIZE_SLOTS,
            team=team,
        )[0]
        for tasks, team, runs in SIZES
    ]
    # Words that no compression of the database shortens much.
    text = random.Random(1).randbytes(MATERIAL_BYTES // 2).hex(" ", 4)[:MATERIAL_BYTES]
    with_material, _ = running.measure(
        "5 tasks, a material of 100 kB",
        make_instant_scenario(5),
        _share(20),
        slots=SIZE_SLOTS,
        materials={"notes.txt": text},
    )
    return [*found, with_material]


def measure_slots(running: LoadCluster, counts: Sequence[int]) -> list[LoadFigures]:
    """Return what an instance does with more and more runs at once."""
    found = []
    for slots in counts:
        running.set_variables(N_JOBS_PER_WORKER=str(slots))
        scenario, runs = make_load_scenario(mean_s=1.0), max(30, 2 * slots)
        figures, _ = running.measure(f"{slots} at once", scenario, _share(runs), slots=slots)
        found.append(figures)
    return found


def _share(runs: int) -> tuple[int, ...]:
    """Return the runs of each of ten clients."""
    return (runs // CLIENTS,) * CLIENTS


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only two numbers of runs at once")
    options = parser.parse_args()
    with start_load_cluster(1, N_JOBS_PER_WORKER=str(SIZE_SLOTS)) as running:
        sizes = measure_sizes(running)
        slots = measure_slots(running, SLOTS[:2] if options.quick else SLOTS)
    tables = (format_figures(sizes, SIZE_ROWS), format_figures(slots, SLOT_ROWS))
    problems = [f"{one.name}: {problem}" for one in (*sizes, *slots) for problem in one.problems]
    sys.stdout.write("\n\n".join([*tables, *problems, ""]))


if __name__ == "__main__":
    main()
