"""Workflow graphs with measured seconds, read from files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.performance.limits import compute_critical_path_s
from tests.benchmarks.performance.plans import make_scenario
from tests.endpoint import Scenario

Workflow = tuple[dict[str, tuple[str, ...]], dict[str, float]]
"""Edges, and the seconds of each task."""


def read_workflows(path: Path, *, critical_path_s: float) -> dict[str, Scenario]:
    """Return the plans of a file or a folder by name, scaled to one length of the critical path.

    A `.json` file is one workflow of WfFormat, as in WfInstances. A `.jsonl` file has an object a
    line: `id` and `tasks`, each with `id`, `deps` and `seconds`.

    Raises:
        OSError: the path cannot be read.
        ValueError: a file has neither form.
    """
    files = sorted(path.rglob("*.json*")) if path.is_dir() else [path]
    plans = {}
    for file in files:
        try:
            for name, (edges, seconds) in _read_file(file):
                scale = critical_path_s / compute_critical_path_s(edges, seconds)
                scaled = {task: scale * taken for task, taken in seconds.items()}
                plans[name] = make_scenario(edges, scaled)
        except (KeyError, TypeError, ZeroDivisionError, json.JSONDecodeError) as error:
            raise ValueError(f"{file} holds no workflow: {error!r}") from None
    return plans


def _read_file(file: Path) -> Iterator[tuple[str, Workflow]]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        for line in text.splitlines():
            found = json.loads(line)
            tasks = found["tasks"]
            edges = {task["id"]: tuple(task["deps"]) for task in tasks}
            yield (
                found["id"].rpartition("__")[2],
                (edges, {task["id"]: task["seconds"] for task in tasks}),
            )
    else:
        yield file.stem, _read_wfformat(json.loads(text)["workflow"])


def _read_wfformat(workflow: dict[str, Any]) -> Workflow:
    tasks = workflow["specification"]["tasks"]
    numbered = {task["id"]: f"t{index}" for index, task in enumerate(tasks)}
    edges = {
        numbered[task["id"]]: tuple(numbered[parent] for parent in task["parents"])
        for task in tasks
    }
    seconds = {
        numbered[task["id"]]: task["runtimeInSeconds"] for task in workflow["execution"]["tasks"]
    }
    return edges, seconds
