"""The supervisor: plan, send what can be done, revise when findings say so, stop at the caps."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, Send

from nodes.capacity import capacity_of
from nodes.cascade import skipped
from nodes.checks.plan import may_divide
from nodes.deadline import is_past
from nodes.decision import route, step
from nodes.errors import ModelError, PlanInvalid
from nodes.estimate import estimated
from nodes.events import elapsed_s, emit
from nodes.models.catalog import Models
from nodes.origin import begun, origin_for, reworded
from nodes.planner import make_plan
from nodes.priced import require_prices
from nodes.prompts import plan_messages, revision_message
from nodes.rendezvous import announce, disband
from nodes.request import is_new, is_said, read_history, read_kept, read_request
from nodes.revision import (
    adopted,
    completed,
    difference,
    objections,
    plan_told,
    stalls_after,
    with_note,
)
from nodes.steps import steps_left
from nodes.team_record import record_of
from nodes.thrift import dispensable
from state import (
    Assignment,
    Context,
    Expense,
    Plan,
    Report,
    SupervisorState,
    Team,
    Tier,
    Usage,
)

TIERS: tuple[Tier, ...] = get_args(Tier)

Prepare = Callable[[], Awaitable[None]]
"""Builds what the workers need, while the planner's model is at work."""


async def supervise(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: Models,
    prepare: Prepare,
) -> SupervisorState:
    """Plan a new request; otherwise settle what the last dispatch left, and decide what is next.

    Raises:
        RequestInvalid: there is no request to plan.
        PlanInvalid: no valid plan within the repairs.
        ModelError: the planner cannot be reached.
    """
    if is_new(state):
        return await _begin(state, config, runtime, team=team, models=models, prepare=prepare)
    disband(runtime, config)
    reason, lost = await _reason_to_revise(state, team), SupervisorState()
    if reason and not is_past(config):
        lost = await _revise(state, config, runtime, reason, team=team, models=models)
        if "plan" in lost:
            return lost
    if team.strategy == "step" and state.get("reported", -1) < len(state.get("results", {})):
        stepped = await _step(state, config, runtime, team=team, models=models)
        if stepped is not None:
            paid = {**lost.get("ledger", {}), **stepped.get("ledger", {})}
            return {**stepped, "ledger": paid}
    return {**lost, **await _go_on(state, config, runtime, team=team)}


async def _begin(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: Models,
    prepare: Prepare,
) -> SupervisorState:
    request, asked_s = read_request(state), elapsed_s(config)
    materials, context = state.get("materials", {}), runtime.context
    budget = config["configurable"].get("__budget")
    # What a journal tells is of this request: it was killed before it had a plan.
    if budget and "__told" not in config["configurable"]:
        budget.begin_anew()
    names = {tier: models.name(tier, context) for tier in TIERS}
    await require_prices(names, models, context)
    given: dict[str, Any] = {"materials": list(materials), "kept_materials": read_kept(config)}
    await emit("request", request=request, team=team.name, models=names, **given)
    # All tiers now: one that cannot be reached as set is told before anything is spent. In a
    # thread, since a provider's library is imported with its first model.
    for tier in names:
        await asyncio.to_thread(models.chat, tier, context)
    model = models.chat(team.planner_tier, context)
    await capacity_of(team).read(runtime.store)
    (plan, usage), _ = await asyncio.gather(
        _first_plan(state, config, model, request, context, team=team), prepare()
    )
    plan = plan.model_copy(update={"version": len(state.get("plans", ())) + 1})
    estimate = estimated(plan, team, models, context, materials=materials, planning=usage)
    shown = {**plan_told(plan, team), "estimate": estimate.model_dump(mode="json")}
    await emit("plan_created", **shown)
    spent = Expense(worker="supervisor", tier=team.planner_tier, usage=usage)
    update: SupervisorState = {
        "request": request,
        "planned_for": request,
        "given": tuple(config["configurable"].get("__given", ())),
        "origin": begun(state, request, config),
        "team_record": record_of(team),
        "messages": [] if is_said(state, request) else [HumanMessage(request)],
        "plan": plan,
        "plans": (plan,),
        "results": Overwrite({}),  # type: ignore[typeddict-item]  # a new request has none yet
        "steps": Overwrite({}),  # type: ignore[typeddict-item]  # nor any attempt
        "ledger": Overwrite({"@plan": spent}),  # type: ignore[typeddict-item]  # nor other bills
        "answer": None,
        "critic_rounds": 0,
        "notes": {},
        "withdrawn": {},
        "status": "running",
        "estimate": estimate,
        "awaits_approval": team.approve_plan or context.approve_plan,
        "objection": "",
        "cut": "",
        "revisions": 0,
        "stalls": 0,
        "progressed": 0,
        "heeded": (),
        "reported": -1,
        "max_attempts": context.max_attempts or team.max_attempts,
        "allowance": steps_left({}, context, team),
        "asked_s": asked_s,
        "planned_s": elapsed_s(config),
    }
    return await _dispatching(runtime, config, update, _unfinished(plan, {}))


async def _first_plan(
    state: SupervisorState,
    config: RunnableConfig,
    model: BaseChatModel,
    request: str,
    context: Context,
    *,
    team: Team,
) -> tuple[Plan, Usage]:
    materials = state.get("materials", {})
    if team.strategy == "route":
        plan, decision, usage = await route(
            model, team, request, list(materials), max_tasks=context.max_tasks or team.max_tasks
        )
    elif team.strategy == "step":
        begun, decision, usage = await step(model, team, request, list(materials), None, {})
        assert begun is not None, "nothing is done before the first step"
        plan = begun
    else:
        max_tasks = context.max_tasks or team.max_tasks
        asking = plan_messages(
            team,
            request,
            materials,
            max_tasks=max_tasks,
            history=read_history(state),
            may_divide=may_divide(team),
            load=capacity_of(team).told(team),
            given=config["configurable"].get("__given", ()),
        )
        return await make_plan(model, team, asking, max_tasks=max_tasks, materials=materials)
    await emit("judged", decision=decision.model_dump(mode="json"), stage=team.strategy)
    return plan, usage


async def _step(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: Models,
) -> SupervisorState | None:
    """Decide who goes next after a result; None while a step is still unfinished."""
    plan, results = state["plan"], state.get("results", {})
    assert plan is not None, "a request that is not new has a plan"
    left = steps_left(state, runtime.context, team)
    max_tasks = runtime.context.max_tasks or team.max_tasks
    if _unfinished(plan, results):
        return None
    if len(plan.tasks) >= max_tasks or left <= 0 or is_past(config):
        cut = "a cap ended the run before it was decided that the request is answered"
        return {"cut": cut, "todo": ()}
    model = models.chat(team.planner_tier, runtime.context)
    materials = list(state.get("materials", {}))
    try:
        grown, decision, usage = await step(model, team, state["request"], materials, plan, results)
    except ModelError as error:
        cut = f"no further step could be decided: {error}"
        await emit("error", code=error.code, message=cut)
        return {"cut": cut, "todo": ()}
    await emit("judged", decision=decision.model_dump(mode="json"), stage="step")
    spent = Expense(worker="supervisor", tier=team.planner_tier, usage=usage)
    ledger = {f"@step#{len(plan.tasks)}": spent}
    if grown is None:
        return {"ledger": ledger, "todo": ()}
    grown = grown.model_copy(update={"version": len(state["plans"]) + 1})
    why: dict[str, Any] = {"reason": decision.reason, "difference": difference(plan, grown)}
    await emit("plan_revised", **plan_told(grown, team), **why)
    update: SupervisorState = {
        "plan": grown,
        "plans": (grown,),
        "origin": reworded(state),
        "ledger": ledger,
        "reported": len(results),
        "allowance": left,
    }
    return await _dispatching(runtime, config, update, _unfinished(grown, results))


async def _reason_to_revise(state: SupervisorState, team: Team) -> str:
    if state.get("objection"):
        return f"A person rejected the plan: {state['objection']}"
    plan = state["plan"]
    assert plan is not None, "a request that is not new has a plan"
    found = objections(plan, state.get("results", {}), state.get("heeded", ()))
    revisions, stalls = state.get("revisions", 0), state.get("stalls", 0)
    if found and (revisions >= team.max_revisions or stalls > team.max_stalls):
        count = f"{revisions} of {team.max_revisions} revisions, stall counter {stalls}"
        unheeded = [f"{report.task}: {report.invalidates}" for report in found]
        await emit("plan_rejected", problems=unheeded, plan="", reason=f"no revision: {count}")
        return ""
    return "\n".join(f"{report.task} ({report.worker}): {report.invalidates}" for report in found)


async def _revise(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    reason: str,
    *,
    team: Team,
    models: Models,
) -> SupervisorState:
    """Make the next version of the plan; with none to be had only its cost, and the old one stays.

    Raises:
        PlanInvalid: a person rejected the plan, and there is no other.
        ModelError: the same, and the planner cannot be reached.
    """
    old, results = state["plan"], state.get("results", {})
    assert old is not None, "there is a plan to revise"
    rejected, revisions = bool(state.get("objection")), state.get("revisions", 0)
    if rejected and revisions >= team.max_revisions:
        raise PlanInvalid(
            f"the plan was rejected after {revisions} revisions",
            cause=state["objection"],
            next="say the request in other words",
        )
    materials, max_tasks = state.get("materials", {}), runtime.context.max_tasks or team.max_tasks
    asking = plan_messages(
        team,
        state["request"],
        materials,
        max_tasks=max_tasks,
        history=read_history(state),
        may_divide=may_divide(team),
        given=state.get("given", ()),
    )
    asking.append(revision_message(old, results.values(), reason))
    try:
        plan, usage = await make_plan(
            models.chat(team.planner_tier, runtime.context),
            team,
            asking,
            max_tasks=max_tasks,
            materials=materials,
            adopt=partial(adopted, old=old, results=results),
            finished=results,
        )
    except (PlanInvalid, ModelError) as error:
        if rejected:
            raise
        await emit("error", code=error.code, message=f"the plan stays as it is: {error}")
        usage = error.usage or Usage()
        spent = Expense(worker="supervisor", tier=team.planner_tier, usage=usage)
        return {"ledger": {f"@plan#{len(state['plans']) + 1}/{len(results)}": spent}}
    plan = plan.model_copy(update={"version": len(state["plans"]) + 1})
    why: dict[str, Any] = {"reason": reason, "difference": difference(old, plan)}
    await emit("plan_revised", **plan_told(plan, team), **why)
    spent = Expense(worker="supervisor", tier=team.planner_tier, usage=usage)
    update: SupervisorState = {
        "plan": plan,
        "plans": (plan,),
        "origin": reworded(state),
        "ledger": {f"@plan#{plan.version}": spent},
        "objection": "",
        "awaits_approval": rejected,
        "revisions": revisions + 1,
        "stalls": stalls_after(plan, state),
        "progressed": completed(results),
        "heeded": tuple(results),
        "reported": -1 if rejected else len(results),
        "allowance": steps_left(state, runtime.context, team),
    }
    return await _dispatching(runtime, config, update, _unfinished(plan, results))


async def _go_on(
    state: SupervisorState, config: RunnableConfig, runtime: Runtime[Context], *, team: Team
) -> SupervisorState:
    plan, results = state["plan"], state.get("results", {})
    assert plan is not None, "a request that is not new has a plan"
    lost = skipped(plan, results, at_s=elapsed_s(config))
    for report in lost.values():
        await emit(
            "task_skipped", task=report.task, worker=report.worker, reason=report.error or ""
        )
    settled = {**results, **lost}
    todo = () if len(results) == state.get("reported") else _unfinished(plan, settled)
    left = steps_left(state, runtime.context, team)
    if todo and (left <= 0 or is_past(config)):
        await emit("deadline" if left > 0 else "budget", unfinished=list(todo))
        todo = ()
    update: SupervisorState = {
        "results": lost,
        "reported": len(settled),
        "allowance": left,
        "heeded": tuple(settled),
    }
    return await _dispatching(runtime, config, update, todo)


async def _dispatching(
    runtime: Runtime[Context],
    config: RunnableConfig,
    update: SupervisorState,
    todo: tuple[str, ...],
) -> SupervisorState:
    if todo and not update.get("awaits_approval"):
        announce(runtime, config)
        await emit("dispatched", tasks=list(todo))
    return {**update, "todo": todo}


def after_supervisor(state: SupervisorState) -> list[Send] | str:
    """Send every unfinished task at once, in topological order; with none, go to the answer.

    Studio's edits call a router without a runtime, so all it needs is in the state.
    """
    if state.get("awaits_approval"):
        return "approval"
    plan, results = state["plan"], state.get("results", {})
    assert plan is not None, "the supervisor has planned"
    tasks = [task for task in plan.order() if task.id in state["todo"]]
    if not tasks:
        return "synthesizer"
    spare = dispensable(plan)
    return [
        Send(
            task.worker,
            Assignment(
                task=with_note(task, state.get("notes", {}).get(task.id, "")),
                materials={name: state["materials"][name] for name in task.materials},
                given=() if task.depends_on else state.get("given", ()),
                origin=origin_for(task, state),
                is_dispensable=task.id in spare,
                known={e.task: results[e.task] for e in task.depends_on if e.task in results},
                max_attempts=state["max_attempts"],
                allowance=state["allowance"],
            ),
        )
        for task in tasks
    ]


def _unfinished(plan: Plan, results: Mapping[str, Report]) -> tuple[str, ...]:
    return tuple(task.id for task in plan.order() if task.id not in results)
