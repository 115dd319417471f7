"""Show what a plan of your own takes: one task after another, in waves, here, and at the least.

    bin/supervise run REQUEST --plan-only --json > plan.json
    python -m tests.benchmarks.performance.own_plan plan.json --task-seconds 20
    bin/supervise trace THREAD | python -m tests.benchmarks.performance.own_plan -

A plan has no seconds: a task takes `--task-seconds`, or its own `seconds`, if you write them into
the file. A trace has those of its run. The plan is then played, shorter, at an endpoint on this
machine, and the overhead that is measured is added to the seconds.
"""

import argparse
import json
import random
import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError
from pathlib import Path
from typing import Any

from tests.benchmarks.options import read_options
from tests.benchmarks.performance.limits import (
    compute_critical_path_s,
    compute_waves_s,
    list_waves,
)
from tests.benchmarks.performance.plans import make_scenario
from tests.benchmarks.performance.rounds import Trial, measure_trial
from tests.benchmarks.performance.tables import format_table

REPEAT = 3


@dataclass(frozen=True)
class OwnPlan:
    """A plan with the seconds that its parts take."""

    edges: dict[str, tuple[str, ...]]
    seconds: dict[str, float]
    calls_s: float
    """Of the planner and of the synthesizer, together."""

    @property
    def limit_s(self) -> float:
        """Planner + critical path + synthesizer."""
        return self.calls_s + compute_critical_path_s(self.edges, self.seconds)

    @property
    def waves_s(self) -> float:
        """Planner + waves + synthesizer."""
        return self.calls_s + compute_waves_s(self.edges, self.seconds)

    @property
    def sequential_s(self) -> float:
        """Planner, the tasks one after another, synthesizer."""
        return self.calls_s + sum(self.seconds.values())


def read_plan(text: str, *, task_s: float, calls_s: float) -> OwnPlan:
    """Read a plan, or the trace of a run, from JSON.

    Args:
        task_s: seconds of a task whose seconds are not in the file.
        calls_s: seconds of planner and synthesizer together, for a plan.

    Raises:
        ValueError: the text is neither.
    """
    try:
        found = json.loads(text)
        tasks = found["tasks"]
        numbered = {task["id"]: f"t{index}" for index, task in enumerate(tasks)}
        edges = {numbered[task["id"]]: _read_inputs(task, numbered) for task in tasks}
        seconds = {numbered[task["id"]]: _read_seconds(task, task_s) for task in tasks}
        if timing := found.get("timing"):
            calls_s = float(timing["critical_path_s"]) - compute_critical_path_s(edges, seconds)
        list_waves(edges)
    except CycleError:
        raise ValueError("the tasks form a cycle") from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(
            "neither a plan nor a trace: it needs `tasks`, each with its `id` and `depends_on`"
        ) from None
    if not tasks or min(seconds.values()) < 0:
        raise ValueError("no task, or one of less than no seconds")
    return OwnPlan(edges, seconds, max(0.0, calls_s))


def _read_inputs(task: Mapping[str, Any], numbered: Mapping[str, str]) -> tuple[str, ...]:
    needed = task.get("depends_on") or ()
    return tuple(numbered[edge if isinstance(edge, str) else edge["task"]] for edge in needed)


def _read_seconds(task: Mapping[str, Any], task_s: float) -> float:
    if report := task.get("report"):
        return float(report["ended_s"]) - float(report["started_s"])
    return float(task.get("seconds", task_s))


def measure_overheads_s(
    plan: OwnPlan, *, play_s: float, repeat: int = REPEAT
) -> dict[str, float | str]:
    """Return what waves, and what we, take beyond the seconds of the plan; or why it failed.

    Args:
        play_s: seconds of the critical path, as it is played.
        repeat: how often each is measured.
    """
    scale = play_s / max(compute_critical_path_s(plan.edges, plan.seconds), 1e-9)
    played = make_scenario(plan.edges, {name: scale * s for name, s in plan.seconds.items()})
    trial = Trial("own", played, ("waves-memory", "ours-memory"))
    rows = measure_trial(trial, repeat=repeat, draw=random.Random(0))
    found: dict[str, float | str] = {}
    for name, limit in (("waves-memory", "waves_limit_s"), ("ours-memory", "limit_s")):
        chosen = [row for row in rows if row["variant"] == name]
        failed = [row["error"] for row in chosen if "error" in row]
        walls = [row["wall_s"] - row[limit] for row in chosen if "error" not in row]
        found[name] = failed[0] if failed else statistics.median(walls)
    return found


def format_forecast(plan: OwnPlan, overheads_s: Mapping[str, float | str]) -> str:
    """Return the plan in a line, and a table of seconds."""
    waves = list_waves(plan.edges)
    rows = [
        ("one task after another", plan.sequential_s),
        ("waves, at best", plan.waves_s),
        ("LangGraph waves", _add(plan.waves_s, overheads_s.get("waves-memory"))),
        ("here", _add(plan.limit_s, overheads_s.get("ours-memory"))),
        ("limit: planner + critical path + synthesizer", plan.limit_s),
    ]
    table = [
        [name, *((f"{s:.2f}", f"{s / plan.limit_s:.2f}") if isinstance(s, float) else (s, "-"))]
        for name, s in rows
        if s is not None
    ]
    about = f"{len(plan.edges)} tasks, {len(waves)} waves, at most {max(map(len, waves))} at once"
    return f"{about}\n\n{format_table(['', 'seconds', 'over the limit'], table)}"


def _add(seconds: float, overhead_s: float | str | None) -> float | str | None:
    return seconds + overhead_s if isinstance(overhead_s, float) else overhead_s


def main() -> None:
    """Read a plan and print its forecast."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.performance.own_plan",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="JSON of a plan or of a trace; - reads stdin")
    parser.add_argument("--task-seconds", type=float, default=10.0)
    parser.add_argument("--call-seconds", type=float, default=10.0, help="planner and synthesizer")
    parser.add_argument("--play-seconds", type=float, default=3.0, help="0: only compute")
    options = read_options(parser)
    try:
        file = options.file
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        plan = read_plan(text, task_s=options.task_seconds, calls_s=options.call_seconds)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {options.file}: {error}")
    if plan.limit_s <= 0:
        sys.exit(f"error: {options.file}: no part of it takes any time")
    played, repeat = dict[str, float | str](), 1 if options.rows else REPEAT
    if options.play_seconds:
        played = measure_overheads_s(plan, play_s=options.play_seconds, repeat=repeat)
    print(format_forecast(plan, played))


if __name__ == "__main__":
    main()
