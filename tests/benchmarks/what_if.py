"""Count in how many what-ifs exactly the changed task and its descendants are done again.

    python -m tests.benchmarks.what_if [--graphs 500] [--seed 1] [--plans FILE] [--verbose]

Each graph is made (2 to 30 tasks, up to three dependencies each), or one of a file of published
plans, a JSON object a line whose `tasks` have `id` and `deps`. It is run once against the endpoint
simulator; then one task is changed, in one of five ways, and the run is done again from its record.
The tasks that begin in the second run are compared with the descendants by a search of its own.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from extensions.replay.changes import find_changes
from extensions.replay.fork import afork
from extensions.replay.options import ChangeOptions
from extensions.replay.record_file import read_record
from extensions.replay.replayer import replay_record
from graph.runs.runner import arun
from graph.runs.trace import get_record_path
from graph.settings import Settings
from nodes.limits.nesting import parse_json
from nodes.schemas.team import Team, Worker
from state import Context, Plan
from tests.benchmarks.at_endpoint import build_settings
from tests.benchmarks.options import read_options
from tests.endpoint import Endpoint, Scenario, script_tasks

MAX_DEPTH = 8
"""Of a plan that a team may run."""
WAYS = ("description", "result", "worker", "plan", "at")
Edges = Mapping[str, Sequence[str]]
REPORT = {"status": "completed", "output": "Part: 42 euros.", "confidence": 90}


def make_graph(draw: random.Random) -> Edges:
    """Make the edges of 2 to 30 tasks: what each needs."""
    edges, depth = dict[str, list[str]](), dict[str, int]()
    for name in (f"t{number}" for number in range(draw.randint(2, 30))):
        near = [each for each in edges if depth[each] < MAX_DEPTH]
        edges[name] = draw.sample(near, min(len(near), draw.choice((0, 1, 1, 2, 3))))
        depth[name] = 1 + max((depth[each] for each in edges[name]), default=0)
    return edges


def read_graphs(path: Path) -> Iterator[Edges]:
    """Yield the graphs of a file of published plans that a team can run."""
    for line in path.read_text(encoding="utf-8").splitlines():
        tasks = parse_json(line)["tasks"]
        known = {str(task["id"]): f"n{number}" for number, task in enumerate(tasks)}
        edges = {
            known[str(task["id"])]: [
                known[each] for each in map(str, task["deps"]) if each in known
            ]
            for task in tasks
        }
        if 2 <= len(edges) <= 60:
            yield edges


def find_descendants(edges: Edges, name: str) -> set[str]:
    """Return a task and all that need it, by repeated passes over the edges."""
    found = {name}
    while more := {task for task, needed in edges.items() if found & {*needed}} - found:
        found |= more
    return found


async def run_trial(edges: Edges, draw: random.Random, folder: Path) -> str:
    """Return what is wrong with one what-if; empty if nothing is."""
    team = Team(
        name="parts",
        description="Describes parts.",
        guidance="Give each part to a worker.",
        workers=tuple(
            Worker(name=each, description="Describes parts.", instructions="Describe the part.")
            for each in ("first", "second")
        ),
        max_tasks=100,
        max_steps=1_000,
        max_depth=100,
    )
    tasks = [
        {
            "id": name,
            "description": f"Write {name}.md: name the three figures of part {name}.",
            "worker": draw.choice(("first", "second")),
            "depends_on": list(needed),
        }
        for name, needed in edges.items()
    ]
    plan = Plan.model_validate({"goal": "Compare the parts.", "tasks": tasks})
    async with Endpoint(
        Scenario(tasks=script_tasks({n: tuple(e) for n, e in edges.items()}))
    ) as end:
        return await _run_twice(
            plan, team, edges, build_settings(folder, end.base_url), draw, folder
        )


async def _run_twice(
    plan: Plan, team: Team, edges: Edges, settings: Settings, draw: random.Random, folder: Path
) -> str:
    how: dict[str, Any] = {"settings": settings, "context": Context(critic="off")}
    outcome = await arun("Compare the parts.", team=team, plan=plan, **how)
    if outcome.status != "done":
        return f"the run ended {outcome.status}: {outcome.error}"
    record = read_record(get_record_path(outcome.thread, settings))
    base = await asyncio.to_thread(replay_record, record)
    if not base.is_equal:
        return f"the replay differs in {', '.join(base.differing)}"
    name, way = draw.choice(list(edges)), draw.choice(WAYS)
    options, wanted = _draw_change(way, name, edges, plan, folder)
    changes = find_changes(options, base)
    events = list[Mapping[str, Any]]()
    done = await afork(base, changes, on_event=events.append, **how)
    begun = {str(each["task"]) for each in events if each.get("kind") == "task_started"}
    if begun != wanted or {*changes.redone} != wanted:
        return f"{way} of {name}: done again {sorted(begun)}, wanted {sorted(wanted)}"
    if len(done.results) != len(edges) or done.status != "done":
        return f"{way} of {name}: {done.status} with {len(done.results)} of {len(edges)} reports"
    kept = [each for each in edges if each not in wanted and each != name]
    changed = [each for each in kept if done.results[each] != outcome.results[each]]
    return f"{way} of {name}: the reports of {changed} differ" if changed else ""


def _draw_change(
    way: str, name: str, edges: Edges, plan: Plan, folder: Path
) -> tuple[ChangeOptions, set[str]]:
    """Return a change of a task, and the tasks that are to be done again."""
    wanted = find_descendants(edges, name)
    match way:
        case "description":
            words = f"Write {name}.md: name the two risks of part {name}."
            return ChangeOptions(task=[f"{name}.description={words}"]), wanted
        case "worker":
            held = next(task.worker for task in plan.tasks if task.id == name)
            other = "second" if held == "first" else "first"
            return ChangeOptions(task=[f"{name}.worker={other}"]), wanted
        case "result":
            path = folder / "report.json"
            path.write_text(json.dumps({**REPORT, "output": "Part: 7 euros."}))
            return ChangeOptions(result=[f"{name}={path}"]), wanted - {name}
        case "plan":
            tasks = [
                task.model_copy(update={"description": f"{task.description} Name a risk, too."})
                if task.id == name
                else task
                for task in plan.tasks
            ]
            path = folder / "plan.json"
            path.write_text(plan.model_copy(update={"tasks": tuple(tasks)}).model_dump_json())
            return ChangeOptions(plan=path), wanted
        case _:
            return ChangeOptions(at=[name]), wanted


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plans", type=Path, help="published plans, in place of made ones")
    parser.add_argument("--verbose", action="store_true")
    options = read_options(parser, "graphs")
    draw = random.Random(options.seed)
    if options.plans:
        graphs = list(read_graphs(options.plans))
        draw.shuffle(graphs)
    else:
        graphs = [make_graph(draw) for _ in range(options.graphs)]
    right, chosen = 0, graphs[: options.graphs]
    for number, edges in enumerate(chosen, 1):
        with tempfile.TemporaryDirectory() as folder:
            problem = asyncio.run(run_trial(edges, draw, Path(folder)))
        right += not problem
        if problem:
            print(f"graph {number} of {len(edges)} tasks: {problem}")
        print(f"\r{right} of {number}", end="", file=sys.stderr, flush=True)
    tasks = sum(map(len, chosen))
    print(f"\n{right} of {len(chosen)} what-ifs exact, over graphs of {tasks} tasks in all")


if __name__ == "__main__":
    main()
