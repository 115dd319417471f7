"""Ask for published plans, from a planner that only repeats itself, and count the repairs."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage

from nodes.errors import PlanInvalid
from nodes.models.catalog import AvailableModels
from nodes.planning.planner import make_plan
from nodes.schemas.team import Worker
from state import Plan
from supervisor_worker.testing.fake_models import make_models
from tests.node_runs import NodeRun
from tests.teams import make_team

MAX_TASKS = 100
WORKER = Worker(
    name="doer",
    description="Does anything.",
    instructions="Work.",
    tools=("own_tools:act",),
)
"""A worker whose tool may do anything, so no task is refused for a missing tool."""
TEAM = make_team(workers=(WORKER,))


@dataclass(frozen=True)
class PublishedPlan:
    """A plan that another project published."""

    source: str
    plan: Plan


@dataclass(frozen=True)
class PlanOutcome:
    """The result of asking for one plan."""

    source: str
    vague_tasks: tuple[str, ...]
    """Sentences by which the plan was sent back."""
    is_refused: bool
    """Whether the run ends without a plan."""


def read_plans(path: Path) -> Iterator[PublishedPlan]:
    """Read the sound plans of a JSONL file; a `question` or a `text` is a plan of one task."""
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if item.get("defect"):
            continue
        words = item.get("question") or item.get("text")
        listed = item.get("tasks") or [{"id": "1", "name": words, "deps": []}]
        tasks = [_read_task(task) for task in listed]
        plan = Plan.model_validate({"goal": "Do what is asked.", "tasks": tasks})
        source = item.get("label") or item.get("source", path.stem).rpartition("/")[2]
        yield PublishedPlan(source, plan)


async def ask_for_plans(plans: Iterator[PublishedPlan]) -> list[PlanOutcome]:
    """Ask for each plan with the default number of repairs."""
    return await asyncio.gather(*map(_ask_for_plan, plans))


def _read_task(task: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"T{task['id']}",
        "description": task["name"],
        "worker": WORKER.name,
        "depends_on": [f"T{name}" for name in task["deps"]],
    }


async def _ask_for_plan(published: PublishedPlan) -> PlanOutcome:
    run, models = NodeRun(), make_models(Plan=published.plan)
    asked = [HumanMessage(published.plan.goal)]
    try:
        await run.call(
            make_plan, AvailableModels(models.model), TEAM, asked, max_tasks=MAX_TASKS, materials=()
        )
        is_refused = False
    except PlanInvalid:
        is_refused = True
    problems = [each for event in run.list_events("plan_rejected") for each in event["problems"]]
    vague_tasks = tuple(problem for problem in problems if "is vague" in problem)
    return PlanOutcome(published.source, vague_tasks, is_refused)
