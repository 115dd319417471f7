"""Teams, plans and attempts at tasks for tests of the built-in model."""

from collections.abc import Mapping, Sequence
from typing import Any

from extensions.embedded.planning import write_plan
from extensions.embedded.work import AnsweredCall, Work
from nodes.schemas.handoff import Constraints, Handoff, PlanningValues, RevisionValues
from nodes.schemas.team import Example, Team, Worker
from state import Plan

LIMITS = Constraints(max_tokens=1000, timeout_s=60, tier="fast")


def make_team(cards: Mapping[str, str], *examples: Example, **needs: tuple[str, ...]) -> Team:
    """Make a team of workers with a tool each."""
    workers = tuple(
        Worker(
            name=name,
            description=card,
            instructions="Work.",
            tools=(f"{name}_tool",),
            needs=needs.get(name, ()),
        )
        for name, card in cards.items()
    )
    return Team(name="yard", description="d", guidance="g", workers=workers, examples=examples)


def make_example(
    request: str, tasks: Mapping[str, Sequence[str]], described: str = "Do."
) -> Example:
    """Make an example with a task for each worker, after the tasks of others."""
    made = [
        {"id": name, "worker": name, "description": described, "depends_on": list(before)}
        for name, before in tasks.items()
    ]
    return Example(request=request, plan=Plan.model_validate({"goal": request, "tasks": made}))


def make_plan(
    request: str,
    materials: Mapping[str, str] | None = None,
    refusals: int = 0,
    *,
    team: Team,
    revision: RevisionValues | None = None,
) -> Plan:
    values = PlanningValues(team, request, materials or {}, revision=revision)
    return Plan.model_validate(write_plan(values, refusals))


def make_work(
    words: str, *calls: AnsweredCall, answers: dict[str, str] | None = None, **handoff: Any
) -> Work:
    given = Handoff(task="t", to="w", intent=words, constraints=LIMITS, **handoff)
    return Work(given, subject=words, answers=answers, calls=calls)
