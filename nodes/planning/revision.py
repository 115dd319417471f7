"""A new version of the plan, after a finding or a rejection."""

import asyncio
from collections.abc import Collection
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.errors import ModelError, PlanInvalid
from nodes.human.messages import build_plan_message
from nodes.limits.step_cap import count_steps_left
from nodes.models.catalog import EMBEDDED, ModelCatalog
from nodes.planning.coverage import note_uncovered
from nodes.planning.planner import make_plan
from nodes.planning.replanning import (
    build_plan_event,
    compare_plans,
    count_completed,
    count_stalls,
    keep_finished_tasks,
    list_open_objections,
    list_unfinished,
)
from nodes.planning.request import read_history
from nodes.planning.validation import may_divide
from nodes.prompts.messages import build_plan_messages, build_revision_message
from nodes.schemas.beside import PlanningValues, RevisionValues, lay_beside
from nodes.schemas.team import Team
from nodes.security.provenance import build_origin_after_results
from nodes.telemetry.events import emit
from nodes.text.counts import format_count
from state import Context, Expense, Plan, SupervisorState, Usage, enter_expenses, require_plan


async def find_revision_reason(state: SupervisorState, team: Team) -> str:
    """Return why the plan must change; empty where it need not, or no revision is left."""
    if state.get("objection"):
        return f"A human rejected the plan: {state['objection']}"
    plan = require_plan(state)
    found = list_open_objections(
        plan,
        state.get("results", {}),
        state.get("doubts", {}),
        state.get("answered_objections", ()),
    )
    if found and not may_revise(state, team):
        revisions, stalls = state.get("revisions", 0), state.get("stalls", 0)
        count = (
            f"{revisions} of {format_count(team.max_revisions, 'revision')}, stall counter {stalls}"
        )
        await emit("plan_rejected", problems=found, plan="", reason=f"no revision: {count}")
        return ""
    return "\n".join(found)


def list_objecting(state: SupervisorState) -> list[str]:
    """Return the tasks whose reports speak against the plan, and no revision has answered."""
    doubts, answered = state.get("doubts", {}), state.get("answered_objections", ())
    return [name for name in state.get("results", {}) if doubts.get(name) and name not in answered]


def may_revise(state: SupervisorState, team: Team) -> bool:
    """Return whether findings may still change the plan of this request."""
    revisions, stalls = state.get("revisions", 0), state.get("stalls", 0)
    return revisions < team.max_revisions and stalls <= team.max_stalls


async def revise_plan(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    reason: str,
    *,
    team: Team,
    models: ModelCatalog,
    running: Collection[str] = (),
) -> SupervisorState:
    """Return the next version of the plan; where none is valid only its cost, and the plan stays.

    Args:
        running: ids of tasks that are at work: they stay as they are.

    Raises:
        PlanInvalid: a human rejected the plan, and there is no other.
        ModelError: the same, and the planner cannot be reached.
    """
    old, results = require_plan(state), state.get("results", {})
    rejected, revisions = bool(state.get("objection")), state.get("revisions", 0)
    if rejected and revisions >= team.max_revisions:
        raise PlanInvalid(
            f"the plan was rejected after {format_count(revisions, 'revision')}",
            cause=state["objection"],
            next="word the request differently",
        )
    try:
        plan, usage = await _ask_for_revision(
            state, reason, runtime.context, team=team, models=models, running=running
        )
    except (PlanInvalid, ModelError) as error:
        if rejected:
            raise
        await emit("error", code=error.code, message=f"the plan stays as it is: {error}")
        usage = error.usage or Usage()
        return {
            "ledger": enter_expenses(_bill(team, state, usage, round=len(results))),
            "stalls": state.get("stalls", 0) + 1,
        }
    plan = plan.model_copy(update={"version": len(state["plans"]) + 1, "untaken": old.untaken})
    if rejected:
        noted = partial(note_uncovered, plan, state["request"], team, waived=reason)
        plan = await asyncio.to_thread(noted)
    why: dict[str, Any] = {"reason": reason, "difference": compare_plans(old, plan)}
    await emit("plan_revised", **build_plan_event(plan, team), **why, awaits_approval=rejected)
    return {
        "plan": plan,
        "plans": (plan,),
        "origin": build_origin_after_results(state),
        "ledger": enter_expenses(_bill(team, state, usage)),
        "objection": "",
        "awaits_approval": rejected,
        "messages": [build_plan_message(plan)] if rejected else [],
        "revisions": revisions + 1,
        "stalls": count_stalls(plan, state),
        "completed_at_last_revision": count_completed(results),
        "answered_objections": tuple(results),
        "reports_at_last_dispatch": -1 if rejected else len(results),
        "steps_left": count_steps_left(state, runtime.context, team),
        "todo": tuple(name for name in list_unfinished(plan, results) if name not in running),
    }


async def _ask_for_revision(
    state: SupervisorState,
    reason: str,
    context: Context,
    *,
    team: Team,
    models: ModelCatalog,
    running: Collection[str],
) -> tuple[Plan, Usage]:
    """Return a changed plan in which what is finished or at work stays, and its usage."""
    old, results, given = require_plan(state), state.get("results", {}), state.get("given", ())
    materials, max_tasks = state.get("materials", {}), context.max_tasks or team.max_tasks
    asking = build_plan_messages(
        team.model_copy(update={"examples": ()}),  # the plan itself is one
        state["request"],
        materials,
        max_tasks=max_tasks,
        history=read_history(state),
        may_divide=may_divide(team),
        given=given,
    )
    asking.append(build_revision_message(old, results.values(), reason, running=running))
    is_embedded = models.get_name(team.planner_tier, context) == EMBEDDED
    fixed, rejected = {*results, *running}, bool(state.get("objection"))
    revision = RevisionValues(old, tuple(results.values()), running, reason, is_rejection=rejected)
    parameters = team.get_parameters("planner")
    with lay_beside(
        PlanningValues(team, state["request"], materials, given=given, revision=revision)
    ):
        return await make_plan(
            models.get_available_models(team.planner_tier, context, parameters),
            team.drop_needs(given),
            asking,
            max_tasks=max_tasks,
            materials=materials,
            goal="" if is_embedded else old.goal,
            adopt=partial(keep_finished_tasks, old=old, finished=fixed),
            finished=fixed,
        )


def _bill(team: Team, state: SupervisorState, usage: Usage, *, round: int = 0) -> Expense:
    return Expense(
        worker="supervisor",
        tier=team.planner_tier,
        usage=usage,
        purpose="revision",
        attempt=len(state["plans"]) + 1,
        round=round,
    )
