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

from nodes.errors import ModelError, PlanInvalid
from nodes.execution.dispatch import close_dispatches, open_dispatch
from nodes.limits.clock import get_elapsed_s
from nodes.limits.deadline import is_deadline_past
from nodes.limits.degradation import find_optional_tasks
from nodes.limits.step_cap import count_steps_left
from nodes.limits.worker_load import get_team_load
from nodes.models.catalog import ModelCatalog
from nodes.models.price_check import require_prices
from nodes.planning.estimate import estimate_run
from nodes.planning.planner import make_plan
from nodes.planning.replanning import (
    add_rework_note,
    build_plan_event,
    compare_plans,
    count_completed,
    count_stalls,
    keep_finished_tasks,
    list_open_objections,
)
from nodes.planning.request import (
    is_last_message,
    is_new_request,
    read_history,
    read_kept_materials,
    read_request,
)
from nodes.planning.routing import choose_next_step, route_request
from nodes.planning.skipping import skip_blocked
from nodes.planning.team_record import build_team_record
from nodes.planning.validation import may_divide
from nodes.prompts.messages import build_plan_messages, build_revision_message
from nodes.security.provenance import (
    build_origin_after_results,
    build_request_origin,
    build_task_origin,
)
from nodes.telemetry.events import emit
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

PrepareWorkers = Callable[[], Awaitable[None]]
"""Builds what the workers need, while the planner's model is at work."""


async def supervise(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    prepare: PrepareWorkers,
) -> SupervisorState:
    """Plan a new request; otherwise settle what the last dispatch left, and decide what is next.

    Raises:
        RequestInvalid: there is no request to plan.
        PlanInvalid: no valid plan within the repairs.
        ModelError: the planner cannot be reached.
    """
    if is_new_request(state):
        return await _begin_request(
            state, config, runtime, team=team, models=models, prepare=prepare
        )
    close_dispatches(runtime, config)
    reason, lost = await _find_revision_reason(state, team), SupervisorState()
    if reason and not is_deadline_past(config):
        lost = await _revise_plan(state, config, runtime, reason, team=team, models=models)
        if "plan" in lost:
            return lost
    if team.strategy == "step" and state.get("reports_at_last_dispatch", -1) < len(
        state.get("results", {})
    ):
        stepped = await _plan_next_step(state, config, runtime, team=team, models=models)
        if stepped is not None:
            paid = {**lost.get("ledger", {}), **stepped.get("ledger", {})}
            return {**stepped, "ledger": paid}
    return {**lost, **await _continue_plan(state, config, runtime, team=team)}


async def _begin_request(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    prepare: PrepareWorkers,
) -> SupervisorState:
    request, asked_s = read_request(state), get_elapsed_s(config)
    materials, context = state.get("materials", {}), runtime.context
    budget = config["configurable"].get("__budget")
    # What a journal tells is of this request: it was killed before it had a plan.
    if budget and "__told" not in config["configurable"]:
        budget.begin_anew()
    names = {tier: models.get_name(tier, context) for tier in TIERS}
    await require_prices(names, models, context)
    given: dict[str, Any] = {
        "materials": list(materials),
        "kept_materials": read_kept_materials(config),
    }
    await emit("request", request=request, team=team.name, models=names, **given)
    # All tiers now: one that cannot be reached as set is told before anything is spent. In a
    # thread, since a provider's library is imported with its first model.
    for tier in names:
        await asyncio.to_thread(models.get_chat_model, tier, context)
    model = models.get_chat_model(team.planner_tier, context)
    await get_team_load(team).load_from_store(runtime.store)
    (plan, usage), _ = await asyncio.gather(
        _make_first_plan(state, config, model, request, context, team=team), prepare()
    )
    plan = plan.model_copy(update={"version": len(state.get("plans", ())) + 1})
    estimate = estimate_run(plan, team, models, context, materials=materials, planning=usage)
    shown = {**build_plan_event(plan, team), "estimate": estimate.model_dump(mode="json")}
    await emit("plan_created", **shown)
    spent = Expense(worker="supervisor", tier=team.planner_tier, usage=usage)
    update: SupervisorState = {
        "request": request,
        "planned_for": request,
        "given": tuple(config["configurable"].get("__given", ())),
        "origin": build_request_origin(state, request, config),
        "team_record": build_team_record(team),
        "messages": [] if is_last_message(state, request) else [HumanMessage(request)],
        "plan": plan,
        "plans": (plan,),
        "results": Overwrite({}),  # type: ignore[typeddict-item]  # a new request has none yet
        "steps": Overwrite({}),  # type: ignore[typeddict-item]  # nor any attempt
        "ledger": Overwrite({"@plan": spent}),  # type: ignore[typeddict-item]  # nor other bills
        "answer": None,
        "critic_rounds": 0,
        "notes": {},
        "results_before_rework": {},
        "status": "running",
        "estimate": estimate,
        "awaits_approval": team.approve_plan or context.approve_plan,
        "objection": "",
        "stop_reason": "",
        "revisions": 0,
        "stalls": 0,
        "completed_at_last_revision": 0,
        "answered_objections": (),
        "reports_at_last_dispatch": -1,
        "max_attempts": context.max_attempts or team.max_attempts,
        "steps_left": count_steps_left({}, context, team),
        "asked_s": asked_s,
        "planned_s": get_elapsed_s(config),
    }
    return await _prepare_dispatch(runtime, config, update, _list_unfinished(plan, {}))


async def _make_first_plan(
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
        plan, decision, usage = await route_request(
            model, team, request, list(materials), max_tasks=context.max_tasks or team.max_tasks
        )
    elif team.strategy == "step":
        begun, decision, usage = await choose_next_step(
            model, team, request, list(materials), None, {}
        )
        assert begun is not None, "nothing is done before the first step"
        plan = begun
    else:
        max_tasks = context.max_tasks or team.max_tasks
        asking = build_plan_messages(
            team,
            request,
            materials,
            max_tasks=max_tasks,
            history=read_history(state),
            may_divide=may_divide(team),
            load=get_team_load(team).describe_loads(team),
            given=config["configurable"].get("__given", ()),
        )
        return await make_plan(model, team, asking, max_tasks=max_tasks, materials=materials)
    await emit("judged", decision=decision.model_dump(mode="json"), stage=team.strategy)
    return plan, usage


async def _plan_next_step(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
) -> SupervisorState | None:
    """Decide who goes next after a result; None while a step is still unfinished."""
    plan, results = state["plan"], state.get("results", {})
    assert plan is not None, "a request that is not new has a plan"
    left = count_steps_left(state, runtime.context, team)
    max_tasks = runtime.context.max_tasks or team.max_tasks
    if _list_unfinished(plan, results):
        return None
    if len(plan.tasks) >= max_tasks or left <= 0 or is_deadline_past(config):
        cut = "a cap ended the run before it was decided that the request is answered"
        return {"stop_reason": cut, "todo": ()}
    model = models.get_chat_model(team.planner_tier, runtime.context)
    materials = list(state.get("materials", {}))
    try:
        grown, decision, usage = await choose_next_step(
            model, team, state["request"], materials, plan, results
        )
    except ModelError as error:
        cut = f"no further step could be decided: {error}"
        await emit("error", code=error.code, message=cut)
        return {"stop_reason": cut, "todo": ()}
    await emit("judged", decision=decision.model_dump(mode="json"), stage="step")
    spent = Expense(worker="supervisor", tier=team.planner_tier, usage=usage)
    ledger = {f"@step#{len(plan.tasks)}": spent}
    if grown is None:
        return {"ledger": ledger, "todo": ()}
    grown = grown.model_copy(update={"version": len(state["plans"]) + 1})
    why: dict[str, Any] = {"reason": decision.reason, "difference": compare_plans(plan, grown)}
    await emit("plan_revised", **build_plan_event(grown, team), **why)
    update: SupervisorState = {
        "plan": grown,
        "plans": (grown,),
        "origin": build_origin_after_results(state),
        "ledger": ledger,
        "reports_at_last_dispatch": len(results),
        "steps_left": left,
    }
    return await _prepare_dispatch(runtime, config, update, _list_unfinished(grown, results))


async def _find_revision_reason(state: SupervisorState, team: Team) -> str:
    if state.get("objection"):
        return f"A person rejected the plan: {state['objection']}"
    plan = state["plan"]
    assert plan is not None, "a request that is not new has a plan"
    found = list_open_objections(
        plan, state.get("results", {}), state.get("answered_objections", ())
    )
    revisions, stalls = state.get("revisions", 0), state.get("stalls", 0)
    if found and (revisions >= team.max_revisions or stalls > team.max_stalls):
        count = f"{revisions} of {team.max_revisions} revisions, stall counter {stalls}"
        unheeded = [f"{report.task}: {report.invalidates}" for report in found]
        await emit("plan_rejected", problems=unheeded, plan="", reason=f"no revision: {count}")
        return ""
    return "\n".join(f"{report.task} ({report.worker}): {report.invalidates}" for report in found)


async def _revise_plan(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    reason: str,
    *,
    team: Team,
    models: ModelCatalog,
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
    asking = build_plan_messages(
        team,
        state["request"],
        materials,
        max_tasks=max_tasks,
        history=read_history(state),
        may_divide=may_divide(team),
        given=state.get("given", ()),
    )
    asking.append(build_revision_message(old, results.values(), reason))
    try:
        plan, usage = await make_plan(
            models.get_chat_model(team.planner_tier, runtime.context),
            team,
            asking,
            max_tasks=max_tasks,
            materials=materials,
            adopt=partial(keep_finished_tasks, old=old, results=results),
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
    why: dict[str, Any] = {"reason": reason, "difference": compare_plans(old, plan)}
    await emit("plan_revised", **build_plan_event(plan, team), **why)
    spent = Expense(worker="supervisor", tier=team.planner_tier, usage=usage)
    update: SupervisorState = {
        "plan": plan,
        "plans": (plan,),
        "origin": build_origin_after_results(state),
        "ledger": {f"@plan#{plan.version}": spent},
        "objection": "",
        "awaits_approval": rejected,
        "revisions": revisions + 1,
        "stalls": count_stalls(plan, state),
        "completed_at_last_revision": count_completed(results),
        "answered_objections": tuple(results),
        "reports_at_last_dispatch": -1 if rejected else len(results),
        "steps_left": count_steps_left(state, runtime.context, team),
    }
    return await _prepare_dispatch(runtime, config, update, _list_unfinished(plan, results))


async def _continue_plan(
    state: SupervisorState, config: RunnableConfig, runtime: Runtime[Context], *, team: Team
) -> SupervisorState:
    plan, results = state["plan"], state.get("results", {})
    assert plan is not None, "a request that is not new has a plan"
    lost = skip_blocked(plan, results, at_s=get_elapsed_s(config))
    for report in lost.values():
        await emit(
            "task_skipped", task=report.task, worker=report.worker, reason=report.error or ""
        )
    settled = {**results, **lost}
    todo = (
        ()
        if len(results) == state.get("reports_at_last_dispatch")
        else _list_unfinished(plan, settled)
    )
    left = count_steps_left(state, runtime.context, team)
    if todo and (left <= 0 or is_deadline_past(config)):
        await emit("deadline" if left > 0 else "budget", unfinished=list(todo))
        todo = ()
    update: SupervisorState = {
        "results": lost,
        "reports_at_last_dispatch": len(settled),
        "steps_left": left,
        "answered_objections": tuple(settled),
    }
    return await _prepare_dispatch(runtime, config, update, todo)


async def _prepare_dispatch(
    runtime: Runtime[Context],
    config: RunnableConfig,
    update: SupervisorState,
    todo: tuple[str, ...],
) -> SupervisorState:
    if todo and not update.get("awaits_approval"):
        open_dispatch(runtime, config)
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
    tasks = [task for task in plan.order_tasks() if task.id in state["todo"]]
    if not tasks:
        return "synthesizer"
    spare = find_optional_tasks(plan)
    return [
        Send(
            task.worker,
            Assignment(
                task=add_rework_note(task, state.get("notes", {}).get(task.id, "")),
                materials={name: state["materials"][name] for name in task.materials},
                given=() if task.depends_on else state.get("given", ()),
                origin=build_task_origin(task, state),
                is_dispensable=task.id in spare,
                known={e.task: results[e.task] for e in task.depends_on if e.task in results},
                max_attempts=state["max_attempts"],
                steps_left=state["steps_left"],
            ),
        )
        for task in tasks
    ]


def _list_unfinished(plan: Plan, results: Mapping[str, Report]) -> tuple[str, ...]:
    return tuple(task.id for task in plan.order_tasks() if task.id not in results)
