"""Measure what a user waits for before anything happens.

    python -m tests.benchmarks.imports [--repeat 7]

The best of some runs of each command, over the best of `import langgraph.graph`.
"""

import argparse
import subprocess
import sys
import time

COMMANDS = {
    "import langgraph.graph": ["-c", "import langgraph.graph"],
    "from graph import build_supervisor": ["-c", "from graph import build_supervisor"],
    "supervise --help": ["-m", "graph.cli", "--help"],
}


def measure_best_s(command: list[str], repeat: int) -> float:
    """Return the shortest of some runs."""
    taken = []
    for _ in range(repeat):
        began = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - began)
    return min(taken)


def measure_ratios(repeat: int = 7) -> dict[str, float]:
    """Return each command's time over that of the first."""
    taken = {name: measure_best_s(command, repeat) for name, command in COMMANDS.items()}
    base = taken["import langgraph.graph"]
    return {name: seconds / base for name, seconds in taken.items()}


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    for name, ratio in measure_ratios(parser.parse_args().repeat).items():
        print(f"| {name} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
