"""Measure what a user waits for before anything happens, and after everything has.

    python -m tests.benchmarks.imports [--repeat 7]

Each measure is a ratio of the best of some runs; the runs of all measures alternate.

- An import or `supervise --help` over `import langgraph.graph`.
- From the start of `supervise run` to its first model call over `import langchain_openai`, the
  client of the model; and from the last answer of a model to the end of the process over the same.

The endpoint runs in a process of its own. The sources are compiled first, as an installation does.
"""

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.options import read_options
from tests.endpoint import Scenario, script_tasks
from tests.endpoint.process import EndpointProcess, run_endpoint_process

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "import langgraph.graph": ["-c", "import langgraph.graph"],
    "from graph import build_supervisor": ["-c", "from graph import build_supervisor"],
    "supervise --help": ["-m", "graph.cli", "--help"],
    "import langchain_openai": ["-c", "import langchain_openai"],
}
FIRST_CALL, END = "start to first model call", "last answer to end of process"
BASES = {
    "from graph import build_supervisor": "import langgraph.graph",
    "supervise --help": "import langgraph.graph",
    FIRST_CALL: "import langchain_openai",
    END: "import langchain_openai",
}
"""What a measure is divided by."""


def measure_best_s(command: list[str], repeat: int = 1) -> float:
    """Return the shortest of some runs of a command."""
    taken = []
    for _ in range(repeat):
        began = time.monotonic()
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        taken.append(time.monotonic() - began)
    return min(taken)


def measure_run(served: EndpointProcess) -> dict[str, float]:
    """Return the seconds before the first model call of a run, and after the last."""
    before = len(served.fetch_records()["calls"])
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        subprocess.run(
            [sys.executable, "-m", "graph.cli", "run", "Compare the parts.", "--quiet"],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "OPENAI_BASE_URL": served.base_url,
                "OPENAI_API_KEY": "sk-start",
            },
            check=True,
            stdout=subprocess.DEVNULL,
        )
        ended = time.monotonic()
    calls = served.fetch_records()["calls"][before:]
    last = max(call["ended_s"] for call in calls)
    return {FIRST_CALL: calls[0]["began_s"] - began, END: ended - last}


def measure_ratios(repeat: int = 7) -> dict[str, float]:
    """Return each measure over its base."""
    for source in ("extensions", "graph", "nodes"):
        compileall.compile_dir(ROOT / source, quiet=1)
    compileall.compile_file(ROOT / "state.py", quiet=1)
    best: dict[str, float] = {}
    tasks = script_tasks({"a": (), "b": ()}, latency_s=0.05)
    with run_endpoint_process(Scenario(tasks=tasks)) as served:
        for _ in range(repeat):
            taken = {name: measure_best_s(command) for name, command in COMMANDS.items()}
            for name, seconds in (taken | measure_run(served)).items():
                best[name] = min(seconds, best.get(name, seconds))
    return {name: best[name] / best[base] for name, base in BASES.items()}


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    for name, ratio in measure_ratios(read_options(parser).repeat).items():
        print(f"| {name} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
