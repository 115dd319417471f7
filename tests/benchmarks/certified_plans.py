"""Random plans, and a search over all their paths and pairs, to compare certificates with."""

import random
import time
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations
from statistics import median
from typing import Any

from extensions.insight.certificate import PlanCertifier
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings
from nodes.planning.certificates import PlannedRun
from nodes.schemas.team import OwnTool, Team, Worker
from state import Context, Plan, Task
from tests.teams import make_team

SENDS = ("nothing", "query", "address", "anything")
READS: Any = ((), ("private",), ("untrusted",), ("private", "untrusted"))
MODELS = ModelCatalog(ModelSettings(strong="openai:gpt-5"))


def compare_with_search(plans: int, seed: int) -> int:
    """Return how many random plans have other flows, effects or pairs than a search finds."""
    return sum(
        not is_equal_to_search(draw_run(random.Random(seed * 7919 + n))) for n in range(plans)
    )


def certify(run: PlannedRun) -> Mapping[str, Any]:
    """Return the certificate of a planned run."""
    return PlanCertifier().certify(run)


def is_equal_to_search(run: PlannedRun) -> bool:
    """Return whether a certificate has all that a search finds, by the same way, and no more."""
    made = certify(run)
    flows = {
        (source, flow["to"], flow["way"]) for flow in made["flows"] for source in flow["sources"]
    }
    pairs = {(each["thing"], each["way"]): each["pairs"] for each in made["parallel_writes"]}
    return flows == set(search_flows(run)) and pairs == dict(search_pairs(run))


def search_flows(run: PlannedRun) -> Iterator[tuple[str, str, str]]:
    """Yield each source and each tool that sends that it reaches, with the first way."""
    team, plan = run.team, run.plan
    grows = not team.is_held and (team.max_revisions > 0 or team.strategy == "step")
    reads = {task.id: set(_list_reads(task, run)) for task in plan.tasks}
    sends = {task.id: set(_list_sends(task, run)) for task in plan.tasks}
    others = {} if team.is_held else {name: None for worker in team.roster for name in worker.tools}
    other_reads = {name for name in others if team.own_tools[name].reads}
    other_sends = {name for name in others if team.own_tools[name].sends != "nothing"}
    children = {
        task.id: [t.id for t in plan.tasks if any(e.task == task.id for e in t.depends_on)]
        for task in plan.tasks
    }

    @cache
    def walk(name: str) -> frozenset[str]:
        return frozenset({name}).union(*(walk(child) for child in children[name]))

    planned = {(s, to) for a in reads for s in reads[a] for b in walk(a) for to in sends[b]}
    moved = {
        (s, to)
        for a in reads
        for s in reads[a] | other_reads
        for b in walk(a)
        for to in sends[b] | other_sends
    }
    all_reads = set().union(*reads.values()) | other_reads
    all_sends = set().union(*sends.values()) | other_sends
    rewritten = grows or team.critic != "off"
    written = {(s, to) for s in all_reads for to in all_sends} if rewritten else set()
    for s, to in planned | moved | written:
        way = "plan" if (s, to) in planned else "recovery" if (s, to) in moved else "replanning"
        yield s, to, way


def search_pairs(run: PlannedRun) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield what several tasks may change at one time, the way, and how many pairs there are."""
    plan, team = run.plan, run.team
    needs = {task.id: {edge.task for edge in task.depends_on} for task in plan.tasks}

    @cache
    def before(name: str) -> frozenset[str]:
        return frozenset(needs[name]).union(*(before(each) for each in needs[name]))

    def count(tasks: set[str], divided: set[str]) -> int:
        free = [
            (a, b) for a, b in combinations(tasks, 2) if a not in before(b) and b not in before(a)
        ]
        return len(free) + len(tasks & divided)

    tools = [name for worker in team.roster for name in worker.tools]
    for tool in tools if not run.context.sequential else ():
        if team.own_tools[tool].sends != "anything":
            continue
        planned = {task.id for task in plan.tasks if tool in _list_tools(task, run)}
        compound = {task.id for task in plan.tasks if task.is_compound}
        every = {task.id for task in plan.tasks} if not team.is_held else planned
        splits = not team.is_held and "split" in team.ladder and team.max_recursion > 0
        first = count(planned, compound)
        second = count(every, every if splits else compound)
        if first:
            yield (tool, "plan"), first
        if second > first:
            yield (tool, "recovery"), second


def _list_tools(task: Task, run: PlannedRun) -> list[str]:
    workers = run.team.roster if task.is_compound else [run.team.find_worker(task.worker)]
    return [name for worker in workers for name in worker.tools]


def _list_reads(task: Task, run: PlannedRun) -> Iterator[str]:
    yield from (f"material {name}" for name in task.materials)
    yield from (name for name in _list_tools(task, run) if run.team.own_tools[name].reads)


def _list_sends(task: Task, run: PlannedRun) -> Iterator[str]:
    for name in _list_tools(task, run):
        if run.team.own_tools[name].sends != "nothing":
            yield name


def draw_run(draw: random.Random, size: int = 0, *, is_wide: bool = False) -> PlannedRun:
    """Return a random plan of a random team whose tools read and send something."""
    workers, own = list[Worker](), dict[str, OwnTool]()
    for at in range(draw.randint(1, 5)):
        names = tuple(f"tool{at}{n}" for n in range(draw.randint(0, 3)))
        own |= {n: OwnTool(reads=draw.choice(READS), sends=draw.choice(SENDS)) for n in names}
        about: dict[str, Any] = {"description": "Works.", "instructions": "Work.", "tools": names}
        workers.append(Worker(name=f"w{at}", **about))
    team: Team = make_team(
        strategy=draw.choice(("plan", "recursive")),
        critic=draw.choice(("off", "on")),
        max_revisions=draw.randint(0, 1),
        max_recursion=draw.randint(0, 1),
        is_held=draw.random() < 0.3,
    ).model_copy(update={"workers": tuple(workers), "own_tools": own, "max_tasks": 1000})
    if draw.random() < 0.5:
        team = team.model_copy(update={"ladder": ("refine", "reassign")})
    files = [f"f{n}.md" for n in range(3)]
    tasks = list[Task]()
    for at in range(size or draw.randint(1, 9)):
        share = min(1.0, 3 / (at + 1)) if is_wide else draw.random() * 0.6
        needs = [each.id for each in tasks if draw.random() < share]
        tasks.append(
            Task.model_validate(
                {
                    "id": f"t{at}",
                    "description": f"Compare part {at}.",
                    "worker": draw.choice(workers).name,
                    "depends_on": needs,
                    "materials": [name for name in files if draw.random() < 0.2],
                    "is_compound": team.strategy == "recursive" and draw.random() < 0.2,
                }
            )
        )
    return PlannedRun(
        plan=Plan(goal="Compare.", tasks=tuple(tasks)),
        team=team,
        models=MODELS,
        context=Context(sequential=draw.random() < 0.1),
        materials=files,
    )


def time_certificate() -> float:
    """Return the processor's seconds for the certificate of 1,000 tasks, the median of nine."""
    run, taken = draw_run(random.Random(3), 1000, is_wide=True), list[float]()
    certify(run)
    for _ in range(9):
        began = time.process_time()
        certify(run)
        taken.append(time.process_time() - began)
    return median(taken)
