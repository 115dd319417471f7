"""Count what `kill -9` costs: is each run resumed right, and is finished work done again.

    python -m tests.benchmarks.kills [--kills 20] [--times 1] [--postgres] [--revise] [--seed 1]

Each trial runs the CLI in a process of its own against an endpoint in another, kills it at a
random moment while workers are at work, and resumes the thread in a new process; with `--times 3`
two of those are killed as well. With `--revise` a report changes the plan while other tasks are at
work, and the new tasks begin beside them. A task is finished when the trace of a killed run holds
its report.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests import postgres_server
from tests.benchmarks.at_endpoint import build_variables
from tests.benchmarks.options import read_options
from tests.benchmarks.performance.plans import make_random_plan
from tests.endpoint import Scenario, ScriptedTask
from tests.endpoint.process import EndpointProcess, run_endpoint_process

THREAD = "killed"
TRIALS_AT_ONCE = 2
HANG_S = 120.0
"""A guard against what never ends, and no measure: the machine may be busy."""


@dataclass(frozen=True)
class KillTrial:
    """What one kill did."""

    tasks: int
    finished_before: int
    run_again: int
    is_right: bool
    output: str = ""


def run_trial(
    seed: int, *, url: str = "", tasks: int = 12, kills: int = 1, is_plan_revised: bool = False
) -> KillTrial:
    """Run, kill at random moments, resume, and count."""
    draw = random.Random(seed)
    scenario = make_random_plan(tasks, seed=seed, mean_s=0.25, max_depth=5)
    wanted = [task.id for task in scenario.tasks]
    if is_plan_revised:
        scenario, wanted = make_revised_scenario(draw)
    with (
        run_endpoint_process(scenario) as served,
        tempfile.TemporaryDirectory() as folder,
        postgres_server.create_schema(url) if url else nullcontext("") as database,
    ):
        start = partial(_start_command, served=served, folder=Path(folder), database=database)
        command = ["run", "Compare the parts.", "--thread", THREAD, "--json"]
        finished: dict[str, int] = {}
        for _ in range(kills):
            _kill_midway(start(command), Path(folder), draw)
            calls = _count_calls(served)
            finished = {name: calls[name] for name in _list_reported_tasks(Path(folder))} | finished
            command = ["resume", THREAD, "--json"]
        child = start(command)
        stdout, stderr = child.communicate(timeout=HANG_S)
        calls = _count_calls(served)
    outcome = json.loads(stdout) if stdout else {}
    reports = outcome.get("results") or {}
    is_right = child.returncode == 0 and all(
        reports.get(name, {}).get("status") == "completed" for name in wanted
    )
    again = sum(calls[name] - before for name, before in finished.items())
    return KillTrial(len(wanted), len(finished), again, is_right, "" if is_right else stderr[-500:])


def make_revised_scenario(draw: random.Random) -> tuple[Scenario, list[str]]:
    """Return a scenario in which one report changes the plan, and the tasks of its last version.

    While `other` is at work, the report on `search` leads to a review; `note` is dropped, `setting`
    and `change` are new, and `rest` waits for `other` before and after.
    """
    denial = {"output": "No bug found. A configuration value is wrong.", "found_as_expected": False}
    search = ScriptedTask(id="search", report=denial, latency_s=draw.uniform(0.1, 0.6))
    other = ScriptedTask(id="other", worker="analyst", latency_s=draw.uniform(0.4, 1.6))
    rest = ScriptedTask(id="rest", worker="analyst", depends_on=("other",), latency_s=0.2)
    words = "Write note.md: describe the bug, its line and its fix."
    note = ScriptedTask(id="note", worker="writer", depends_on=("search",), description=words)
    setting = ScriptedTask(id="setting", latency_s=draw.uniform(0.2, 0.8))
    change = ScriptedTask(id="change", worker="writer", depends_on=("setting", "other"))
    before, after = (search, other, rest, note), (search, other, rest, setting, change)
    plans = [
        {"goal": "Find it.", "tasks": [t.to_plan_task() for t in some]} for some in (before, after)
    ]
    review = {"makes_sense": False, "reason": "There is no bug; a setting is wrong."}
    scenario = Scenario(
        tasks=(*before, setting, change),
        answers={"Plan": plans, "PlanReview": review},
        latency_s={"PlanReview": 0.1, "Plan": 0.2},
    )
    return scenario, [task.id for task in after]


def _count_calls(served: EndpointProcess) -> Counter[str]:
    """Count how often each task was worked at until now."""
    calls = served.fetch_records()["calls"]
    return Counter(call["task"] for call in calls if call["schema"] == "Report")


def _start_command(
    command: list[str], *, served: EndpointProcess, folder: Path, database: str
) -> "subprocess.Popen[str]":
    environment = build_variables(folder, served.base_url, database)
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
    already = len(_read_events(folder))
    while child.poll() is None and not _has_begun(_read_events(folder)[already:]):
        time.sleep(0.01)
    time.sleep(draw.uniform(0.0, 1.2))
    if child.poll() is None:
        child.send_signal(signal.SIGKILL)
    child.communicate()


def _has_begun(events: list[dict[str, Any]]) -> bool:
    return any(event.get("kind") == "task_started" for event in events)


def _read_events(folder: Path) -> list[dict[str, Any]]:
    paths = (folder / ".supervise").rglob(f"traces/{THREAD}.jsonl")
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [json.loads(line) for line in lines if line.endswith("}")]


def _list_reported_tasks(folder: Path) -> set[str]:
    return {event["task"] for event in _read_events(folder) if event.get("kind") == "report"}


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--times", type=int, default=1, help="kills in a row, in each trial")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--revise", action="store_true", help="the plan changes in mid-run")
    parser.add_argument("--seed", type=int, default=1)
    options = read_options(parser, "kills")
    with postgres_server.run_server() if options.postgres else nullcontext() as server:
        one = partial(
            run_trial,
            url=server.build_url() if server else "",
            kills=options.times,
            is_plan_revised=options.revise,
        )
        with ThreadPoolExecutor(TRIALS_AT_ONCE) as pool:
            trials = []
            for found in pool.map(one, range(options.seed, options.seed + options.kills)):
                trials.append(found)
                right = sum(one.is_right for one in trials)
                print(f"\r{right} of {len(trials)} right", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    where = "PostgreSQL" if options.postgres else "SQLite"
    print(f"{where}, {len(trials)} runs, each killed {options.times} times or until it was done")
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
