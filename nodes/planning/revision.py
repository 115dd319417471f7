"""A new version of the plan, after a finding or a rejection."""

import asyncio
from collections.abc import Collection
from functools import partial
from typing import Any

from nodes.errors import ModelError, PlanInvalid
from nodes.human.request import build_plan_message
from nodes.planning.coverage import note_uncovered
from nodes.planning.plan_request import PlanRequest
from nodes.planning.planner import make_plan
from nodes.planning.replanning import (
    build_plan_event,
    compare_plans,
    count_completed,
    count_stalls,
    list_unfinished,
)
from nodes.planning.request import read_history
from nodes.planning.validation import may_divide
from nodes.prompts.messages import build_plan_messages, build_revision_message
from nodes.schemas.handoff import PlanningValues, RevisionValues, lay_beside
from nodes.schemas.team import Team
from nodes.security.provenance import build_origin_after_results
from nodes.telemetry.events import emit
from nodes.text.counts import format_count
from state import Plan, SupervisorState, Usage, require_plan


async def find_revision_reason(state: SupervisorState, team: Team) -> str:
    """Return why the plan must change; empty where it need not, or no revision is left."""
    if state.get("objection"):
        return f"A human rejected the plan: {state['objection']}"
    results, doubts, objecting = (
        state.get("results", {}),
        state.get("doubts", {}),
        list_objecting(state),
    )
    found = [f"{name} ({results[name].worker}): {doubts[name]}" for name in objecting]
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
    done = [task.id for task in require_plan(state).tasks if task.id in state.get("results", {})]
    return [name for name in done if doubts.get(name) and name not in answered]


def may_revise(state: SupervisorState, team: Team) -> bool:
    """Return whether findings may still change the plan of this request."""
    revisions, stalls = state.get("revisions", 0), state.get("stalls", 0)
    return revisions < team.max_revisions and stalls <= team.max_stalls


async def revise_plan(
    asked: PlanRequest, reason: str, *, running: Collection[str] = ()
) -> SupervisorState:
    """Return the next version of the plan; where none is valid only its cost, and the plan stays.

    Args:
        running: ids of tasks that are at work: they stay as they are.

    Raises:
        PlanInvalid: a human rejected the plan, and there is no other.
        ModelError: the same, and the planner cannot be reached.
    """
    state, team = asked.state, asked.team
    old, results, revisions = (
        require_plan(state),
        state.get("results", {}),
        state.get("revisions", 0),
    )
    rejected, number = bool(state.get("objection")), len(state["plans"]) + 1
    if rejected and revisions >= team.max_revisions:
        raise PlanInvalid(
            f"the plan was rejected {format_count(revisions + 1, 'time')}, and no other is made",
            cause=state["objection"],
            next="word the request differently, or accept or edit a plan",
        )
    try:
        plan, usage = await _ask_for_revision(asked, reason, running)
    except (PlanInvalid, ModelError) as error:
        if rejected:
            raise
        await emit("error", code=error.code, message=f"the plan stays as it is: {error}")
        lost = asked.bill("revision", error.usage or Usage(), attempt=number, round=len(results))
        return {"ledger": lost, "stalls": state.get("stalls", 0) + 1}
    plan = plan.model_copy(update={"version": number, "untaken": old.untaken})
    if rejected:
        noted = partial(note_uncovered, plan, asked.request, team, waived=reason)
        plan = await asyncio.to_thread(noted)
    why: dict[str, Any] = {"reason": reason, "difference": compare_plans(old, plan)}
    await emit("plan_revised", **build_plan_event(plan, team), **why, awaits_approval=rejected)
    ledger = asked.bill("revision", usage, attempt=number)
    todo = tuple(name for name in list_unfinished(plan, results) if name not in running)
    return {**_enter_revision(asked, plan, rejected), "ledger": ledger, "todo": todo}


def _enter_revision(asked: PlanRequest, plan: Plan, rejected: bool) -> SupervisorState:
    """Return the channels of a plan that takes the place of the former one."""
    state, results = asked.state, asked.state.get("results", {})
    return {
        "plan": plan,
        "plans": (plan,),
        "origin": build_origin_after_results(state),
        "objection": "",
        "awaits_approval": rejected,
        "messages": [build_plan_message(plan)] if rejected else [],
        "revisions": state.get("revisions", 0) + 1,
        "stalls": count_stalls(plan, state),
        "completed_at_last_revision": count_completed(results),
        "answered_objections": tuple(results),
        "reports_at_last_dispatch": -1 if rejected else len(results),
        "steps_left": asked.count_steps_left(),
    }


async def _ask_for_revision(
    asked: PlanRequest, reason: str, running: Collection[str]
) -> tuple[Plan, Usage]:
    """Return a changed plan in which what is finished or at work stays, and its usage."""
    state, team, materials = asked.state, asked.team, asked.materials
    old, results, given = require_plan(state), state.get("results", {}), state.get("given", ())
    asking = build_plan_messages(
        team.model_copy(update={"examples": ()}),  # the plan itself is one
        asked.request,
        materials,
        max_tasks=asked.max_tasks,
        history=read_history(state),
        may_divide=may_divide(team),
        given=given,
    )
    asking.append(build_revision_message(old, results.values(), reason, running=running))
    fixed, rejected = {*results, *running}, bool(state.get("objection"))
    revision = RevisionValues(old, tuple(results.values()), running, reason, is_rejection=rejected)
    with lay_beside(PlanningValues(team, asked.request, materials, given=given, revision=revision)):
        return await make_plan(
            asked.get_planners(),
            team.drop_needs(given),
            asking,
            max_tasks=asked.max_tasks,
            materials=materials,
            goal="" if asked.is_by_rule else old.goal,
            old=old,
            finished=fixed,
        )
