"""A request to plan, and its first plan by the team's strategy."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from nodes.errors import ModelError, PlanInvalid, SupervisorError, is_refusal
from nodes.errors.redaction import redact_text
from nodes.limits.run_scope import RunScope
from nodes.limits.worker_load import get_team_load
from nodes.models.catalog import EMBEDDED, AvailableModels, ModelCatalog
from nodes.models.run_context import TextListener
from nodes.planning.coverage import note_uncovered
from nodes.planning.examples import (
    MAX_ROUTE_EXAMPLES,
    keep_near_plans,
    keep_nearest_examples,
    keep_plan_examples,
)
from nodes.planning.planner import make_plan
from nodes.planning.routing import choose_next_step, route_by_rule, route_request
from nodes.planning.validation import list_plan_problems, may_divide
from nodes.planning.writing_workers import add_unwritten
from nodes.prompts.messages import build_plan_messages
from nodes.schemas.beside import InnerRequestValues, PlanningValues, get_beside, lay_beside
from nodes.schemas.replies import Decision
from nodes.schemas.team import Team
from nodes.telemetry.events import emit
from state import Context, Plan, Usage

DescribeDatabase = Callable[[], Awaitable[str]]
"""Returns the tables that tools of the team can query, a line each; empty without a database."""


class Planned(NamedTuple):
    """A plan, what it cost, and what a router cost that decided that a plan is needed."""

    plan: Plan
    usage: Usage
    routing: Usage = Usage()


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """One request to plan: what every strategy needs."""

    request: str
    team: Team
    context: Context
    models: ModelCatalog
    scope: RunScope
    materials: Mapping[str, str]
    history: str
    describe_database: DescribeDatabase
    read_text: TextListener | None
    """Hears the reply of the planner while it is written."""

    @property
    def max_tasks(self) -> int:
        """The limit for the tasks of the plan."""
        return self.context.max_tasks or self.team.max_tasks

    @property
    def is_by_rule(self) -> bool:
        """Whether the built-in model plans."""
        return self.models.get_name(self.team.planner_tier, self.context) == EMBEDDED

    @property
    def words(self) -> str:
        """The request, or of a task of a team the words of the user that it is about."""
        inner = get_beside(InnerRequestValues)
        return inner.words if inner else self.request

    def get_planners(self) -> AvailableModels:
        """Return the planner's model, and those that take over."""
        parameters = self.team.get_parameters("planner")
        return self.models.get_available_models(self.team.planner_tier, self.context, parameters)


async def make_first_plan(asked: PlanRequest) -> Planned:
    """Return the first plan of a request: the given one, or one by the team's strategy.

    Raises:
        PlanInvalid: the given plan cannot be run, or there is no valid one within the repairs.
        ModelError: the planner cannot be reached.
    """
    if (given := asked.scope.given_plan) is not None:
        return Planned(await _check_given(given, asked), Usage())
    if asked.team.strategy in ("route", "step"):
        return await _route(asked)
    return await _plan_whole(asked)


async def _check_given(given: Plan, asked: PlanRequest) -> Plan:
    problems = list_plan_problems(
        given, asked.team, max_tasks=asked.max_tasks, materials=asked.materials
    )
    if problems:
        raise PlanInvalid("the given plan cannot be run", cause="; ".join(problems))
    return await asyncio.to_thread(note_uncovered, given, asked.request, asked.team)


async def _route(asked: PlanRequest) -> Planned:
    """Return the plan of one worker or two, or one of a planner where the router wants it."""
    with lay_beside(PlanningValues(asked.team, asked.words, asked.materials)):
        routed, decision, usage = await _choose_workers(asked)
    await emit("judged", decision=decision.model_dump(mode="json"), stage=asked.team.strategy)
    if routed is not None:
        if asked.is_by_rule:
            routed = await asyncio.to_thread(add_unwritten, routed, asked.team)
        return Planned(routed, usage)
    try:
        planned = await _plan_whole(replace(asked, team=keep_plan_examples(asked.team)))
    except SupervisorError as error:
        error.usage = usage + (error.usage or Usage())
        raise
    return planned._replace(routing=usage)


async def _choose_workers(asked: PlanRequest) -> tuple[Plan | None, Decision, Usage]:
    """Return the plan of a team that routes or steps; None where its router wants a planner.

    Where no model can be reached a rule chooses the worker, whose own model may be.
    """
    team, request, names = asked.team, asked.request, list(asked.materials)
    try:
        if team.strategy == "step":
            return await choose_next_step(asked.get_planners(), team, request, names, None, {})
        shown = None
        if not asked.is_by_rule:
            shown = await asyncio.to_thread(
                keep_nearest_examples, team, request, MAX_ROUTE_EXAMPLES
            )
        return await route_request(
            asked.get_planners(),
            team,
            request,
            names,
            max_tasks=asked.max_tasks,
            prompt_team=shown,
        )
    except ModelError as error:
        if is_refusal(error):
            raise
        await emit("error", code=error.code, message=f"the request is routed by rule: {error}")
        problem = redact_text(error.describe())
        routed, decision = await route_by_rule(team, request, names, problem=problem)
        return routed, decision, error.usage or Usage()


async def _plan_whole(asked: PlanRequest) -> Planned:
    """Return a plan of the whole request."""
    team, materials, words = asked.team, asked.materials, asked.words
    reported, database = asked.scope.prior_results, await asked.describe_database()
    ask_team = partial(
        build_plan_messages,
        request=asked.request,
        materials=materials,
        max_tasks=asked.max_tasks,
        history=asked.history,
        may_divide=may_divide(team),
        load=get_team_load(team).describe_loads(team),
        given=reported,
        database=database,
    )
    is_by_rule, prompt_team = asked.is_by_rule, team
    if not is_by_rule:  # a model of meaning may be loaded from its file
        prompt_team = await asyncio.to_thread(keep_near_plans, team, asked.request, [*materials])
    with lay_beside(PlanningValues(team, words, materials, database, reported)):
        plan, usage = await make_plan(
            asked.get_planners(),
            team.drop_needs(reported),
            ask_team(prompt_team),
            max_tasks=asked.max_tasks,
            materials=materials,
            request="" if is_by_rule else words,
            goal="" if is_by_rule else words,
            build_rule_messages=None if is_by_rule else lambda: ask_team(team),
            read_text=asked.read_text,
        )
    # A rule plans each part, and names those for which it has no task.
    if is_by_rule or plan.is_by_rule:  # it reads the tools from their files
        return Planned(await asyncio.to_thread(add_unwritten, plan, team), usage)
    return Planned(await asyncio.to_thread(note_uncovered, plan, words, team), usage)
