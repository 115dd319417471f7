"""The checks on a plan that a model proposes: its schema, what is corrected, what is refused."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from nodes.models.structured_output import describe_validation_errors
from nodes.planning.corrections import correct_plan
from nodes.planning.replanning import keep_finished_tasks
from nodes.planning.validation import list_plan_problems, list_vague_tasks, may_divide
from nodes.schemas.team import SPECIALIST, Team
from state import Plan, Tier

MAX_BOUNDED_ITEMS = 50
"""Limit of a bound that is shown; llama.cpp refuses grammars with many repetitions."""
MAX_SPANS = 8
"""Limit of the parts of the request that one task quotes."""
MAX_NAMED_MATERIALS = 50
"""Limit of materials that the schema of a plan names."""


@dataclass(frozen=True)
class PlanCheck:
    """The checks on a plan."""

    team: Team
    max_tasks: int
    materials: Collection[str]
    old: Plan | None
    finished: Collection[str]
    goal: str = ""

    def build_schema(self) -> dict[str, Any]:
        """Return the schema of the plans that can pass."""
        return build_plan_schema(
            tuple(worker.name for worker in self.team.roster),
            tuple(self.materials),
            max_tasks=self.max_tasks,
            may_divide=may_divide(self.team),
            tiers=tuple({tier: None for worker in self.team.roster for tier in worker.tiers}),
        )

    def correct(self, fields: dict[str, Any], changes: list[str]) -> dict[str, Any]:
        """Return a plan's fields as they are meant; what was changed is added to the changes."""
        corrected, found = correct_plan(
            fields, self.team, self.materials, request=self.goal, finished=self.finished
        )
        changes += found
        return corrected

    def __call__(self, given: Plan) -> tuple[Plan | None, list[str], list[str]]:
        """Return the plan to run, None when it is invalid; its problems; its vague tasks."""
        try:
            plan = keep_finished_tasks(given, self.old, self.finished) if self.old else given
        except ValidationError as error:
            return None, describe_validation_errors(error), []
        problems = list_plan_problems(
            plan, self.team, max_tasks=self.max_tasks, materials=self.materials
        )
        # A plan of thousands of tasks is refused for its size alone.
        open_tasks = [task for task in plan.tasks if task.id not in self.finished]
        vague = list_vague_tasks(open_tasks) if len(plan.tasks) <= self.max_tasks else []
        return (None if problems else plan), problems, vague

    def replace_unknown_workers(self, plan: Plan | None) -> Plan | None:
        """Return a plan with unknown workers replaced; None where it still cannot run."""
        team = self.team
        if plan is None or not (team.generalist or team.recruit):
            return None
        known = {worker.name for worker in team.roster}
        other = {"worker": team.generalist or SPECIALIST}
        tasks = tuple(t if t.worker in known else t.model_copy(update=other) for t in plan.tasks)
        return self(plan.model_copy(update={"tasks": tasks}))[0]


_NUMBER = {"type": "integer", "description": "number of a task above, from 1"}


@lru_cache(maxsize=256)
def build_plan_schema(
    workers: tuple[str, ...],
    materials: tuple[str, ...],
    *,
    max_tasks: int,
    may_divide: bool,
    tiers: tuple[Tier, ...] = (),
) -> dict[str, Any]:
    """Return the schema of a plan that accepts only these workers, materials and tiers.

    Its lists are bounded: a small model repeats an item until its reply is cut.
    """
    schema = Plan.model_json_schema()
    del schema["properties"]["goal"]  # it is the request
    schema["required"] = ["tasks"]
    task = schema["$defs"]["Task"]["properties"]
    if max_tasks <= MAX_BOUNDED_ITEMS:
        schema["properties"]["tasks"]["maxItems"] = max_tasks
        task["depends_on"]["maxItems"] = max(1, max_tasks - 1)
    task["materials"]["maxItems"] = len(materials)
    task["covers"]["maxItems"] = MAX_SPANS
    task["worker"]["enum"] = list(workers)
    edge = {"task": _NUMBER, "required": {"type": "boolean"}}
    task["depends_on"]["items"] = {"type": "object", "properties": edge, "required": ["task"]}
    if materials:
        schema["$defs"]["Task"]["required"].append("materials")
    if not materials:
        del task["materials"]
    elif len(materials) <= MAX_NAMED_MATERIALS:
        task["materials"]["items"]["enum"] = list(materials)
    else:
        del task["materials"]["maxItems"]
    if not may_divide:
        del task["is_compound"]
    if tiers:
        task["tier"]["anyOf"][0]["enum"] = list(tiers)
    else:
        del task["tier"]
    return schema
