"""Measure what reading every shipped team's folder takes, the libraries of the house aside.

    python -m tests.benchmarks.loading [--repeat 5]

Each team is read and checked as `supervise run` does before it calls a model, in one process. The
best of some rounds, in milliseconds, and over what `import langgraph.graph` takes.
"""

import argparse
import time

from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, load_team
from tests.benchmarks.imports import COMMANDS, measure_best_s


def measure_round_s(names: list[str]) -> float:
    """Read the teams once."""
    began = time.perf_counter()
    for name in names:
        load_team(name)
    return time.perf_counter() - began


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    names = sorted(path.parent.name for path in SHIPPED_TEAMS_FOLDER.glob("*/team.md"))
    taken = min(measure_round_s(names) for _ in range(repeat))
    ratio = taken / measure_best_s(COMMANDS["import langgraph.graph"], repeat)
    print(f"{len(names)} teams: {taken * 1000:.0f} ms, {ratio:.2f} of `import langgraph.graph`")


if __name__ == "__main__":
    main()
