"""Count what `kill -9` costs: is each run resumed right, and is finished work done again.

    python -m tests.benchmarks.kills [--kills 20] [--seed 1]

Each trial runs the CLI in a process of its own against an endpoint in another, kills it at a
random moment while workers are at work, and resumes the thread in a new process. A task is
finished when the trace of the killed run holds its report.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.dispatch import random_dag
from tests.endpoint.process import ROOT, EndpointProcess, endpoint_process

THREAD = "killed"


@dataclass(frozen=True)
class Trial:
    """What one kill did."""

    tasks: int
    finished_before: int
    run_again: int
    is_right: bool
    said: str = ""


def trial(seed: int, *, tasks: int = 12, kills: int = 1) -> Trial:
    """Run, kill at random moments, resume, and count."""
    draw = random.Random(seed)
    scenario = random_dag(tasks, seed=seed, mean_s=0.25, max_depth=5)
    with endpoint_process(scenario) as served, tempfile.TemporaryDirectory() as folder:
        command = ["run", "Compare the parts.", "--thread", THREAD, "--json"]
        finished: set[str] = set()
        for _ in range(kills):
            _kill_midway(_start(command, served, Path(folder)), Path(folder), draw)
            finished |= _reported(Path(folder))
            command = ["resume", THREAD, "--json"]
        child = _start(command, served, Path(folder))
        stdout, stderr = child.communicate(timeout=60)
        calls = Counter(
            call["task"] for call in served.records()["calls"] if call["schema"] == "Report"
        )
    outcome = json.loads(stdout) if stdout else {}
    reports = outcome.get("results") or {}
    is_right = child.returncode == 0 and all(
        reports.get(f"t{index}", {}).get("status") == "completed" for index in range(tasks)
    )
    again = sum(calls[name] - 1 for name in finished)
    return Trial(tasks, len(finished), again, is_right, "" if is_right else stderr[-500:])


def _start(command: list[str], served: EndpointProcess, folder: Path) -> "subprocess.Popen[str]":
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "OPENAI_BASE_URL": served.base_url,
        "OPENAI_API_KEY": "sk-kills",
        "LANGSMITH_TRACING": "false",
        **{
            f"SUPERVISE_MODEL_{tier}": "openai:gpt-5-mini"
            for tier in ("FAST", "STANDARD", "STRONG")
        },
    }
    return subprocess.Popen(
        [sys.executable, "-m", "graph.cli", *command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _kill_midway(child: "subprocess.Popen[str]", folder: Path, draw: random.Random) -> None:
    """Kill a child a random while after its workers have begun."""
    already = len(_events(folder))
    while child.poll() is None and not _began(_events(folder)[already:]):
        time.sleep(0.01)
    time.sleep(draw.uniform(0.0, 1.2))
    if child.poll() is None:
        child.send_signal(signal.SIGKILL)
    child.communicate()


def _began(events: list[dict[str, Any]]) -> bool:
    return any(event.get("kind") == "task_started" for event in events)


def _events(folder: Path) -> list[dict[str, Any]]:
    path = folder / ".supervise" / "traces" / f"{THREAD}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def _reported(folder: Path) -> set[str]:
    return {event["task"] for event in _events(folder) if event.get("kind") == "report"}


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    trials = [trial(options.seed + index) for index in range(options.kills)]
    for wrong in (one for one in trials if not one.is_right):
        print(wrong)
    right = sum(one.is_right for one in trials)
    finished = sum(one.finished_before for one in trials)
    again = sum(one.run_again for one in trials)
    print(f"{right} of {len(trials)} killed runs ended right after a resume")
    print(f"{again} of {finished} tasks finished before the kill were run again")
    print(f"{sum(one.tasks for one in trials)} tasks in all")
    sys.exit(right != len(trials))


if __name__ == "__main__":
    main()
