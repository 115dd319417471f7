"""The supervisor: plan once, send what can be done, and say what cannot."""

import asyncio
from collections.abc import Awaitable, Callable

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, Send

from nodes.cascade import skipped
from nodes.deadline import is_past
from nodes.events import elapsed_s, emit
from nodes.models.catalog import Models
from nodes.planner import make_plan
from nodes.rendezvous import announce, disband
from nodes.request import is_new, read_history, read_request
from state import Assignment, Context, Expense, Plan, Report, SupervisorState, Team

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
    plan, results = state["plan"], state.get("results", {})
    assert plan is not None, "a request that is not new has a plan"
    disband(runtime, config)
    lost = skipped(plan, results, at_s=elapsed_s(config))
    for report in lost.values():
        await emit(
            "task_skipped", task=report.task, worker=report.worker, reason=report.error or ""
        )
    settled = {**results, **lost}
    todo = () if len(results) == state.get("reported") else _unfinished(plan, settled)
    left = _steps_left(state, runtime.context, team)
    if todo and (left <= 0 or is_past(config)):
        await emit("deadline" if left > 0 else "budget", unfinished=list(todo))
        todo = ()
    update: SupervisorState = {"results": lost, "reported": len(settled), "allowance": left}
    return await _dispatching(runtime, config, update, todo)


async def _begin(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: Models,
    prepare: Prepare,
) -> SupervisorState:
    request, materials, asked_s = (
        read_request(state),
        state.get("materials", {}),
        elapsed_s(config),
    )
    names = {tier: models.name(tier, runtime.context) for tier in ("fast", "standard", "strong")}
    await emit("request", request=request, team=team.name, models=names, materials=list(materials))
    # A provider's library is imported with its first model, which would hold up the event loop.
    model = await asyncio.to_thread(models.chat, team.planner_tier, runtime.context)
    planning = make_plan(
        model,
        team,
        request,
        materials,
        max_tasks=runtime.context.max_tasks or team.max_tasks,
        history=read_history(state),
    )
    (plan, usage), _ = await asyncio.gather(planning, prepare())
    plan = plan.model_copy(update={"version": len(state.get("plans", ())) + 1})
    await emit("plan_created", plan=plan.model_dump(mode="json"), version=plan.version)
    messages = state.get("messages", [])
    asked = bool(messages) and isinstance(messages[-1], HumanMessage)
    update: SupervisorState = {
        "request": request,
        "planned_for": request,
        "messages": [] if asked else [HumanMessage(request)],
        "plan": plan,
        "plans": (plan,),
        "results": Overwrite({}),  # type: ignore[typeddict-item]  # a new request starts with none
        "steps": Overwrite({}),  # type: ignore[typeddict-item]
        "ledger": Overwrite(  # type: ignore[typeddict-item]
            {"plan": Expense(worker="supervisor", tier=team.planner_tier, usage=usage)}
        ),
        "answer": None,
        "status": "running",
        "reported": 0,
        "max_attempts": runtime.context.max_attempts or team.max_attempts,
        "allowance": _steps_left({}, runtime.context, team),
        "asked_s": asked_s,
        "planned_s": elapsed_s(config),
    }
    return await _dispatching(runtime, config, update, _unfinished(plan, {}))


async def _dispatching(
    runtime: Runtime[Context],
    config: RunnableConfig,
    update: SupervisorState,
    todo: tuple[str, ...],
) -> SupervisorState:
    if todo:
        announce(runtime, config)
        await emit("dispatched", tasks=list(todo))
    return {**update, "todo": todo}


def after_supervisor(state: SupervisorState) -> list[Send] | str:
    """Send every unfinished task at once, in topological order; with none, go to the answer.

    Studio's edits call a router without a runtime, so all it needs is in the state.
    """
    plan, results = state["plan"], state.get("results", {})
    assert plan is not None, "the supervisor has planned"
    tasks = [task for task in plan.order() if task.id in state["todo"]]
    if not tasks:
        return "synthesizer"
    return [
        Send(
            task.worker,
            Assignment(
                task=task,
                materials={name: state["materials"][name] for name in task.materials},
                known={e.task: results[e.task] for e in task.depends_on if e.task in results},
                max_attempts=state["max_attempts"],
                allowance=state["allowance"],
            ),
        )
        for task in tasks
    ]


def _steps_left(state: SupervisorState, context: Context, team: Team) -> int:
    limit = team.max_steps if context.max_steps is None else context.max_steps
    return limit - sum(state.get("steps", {}).values())


def _unfinished(plan: Plan, results: dict[str, Report]) -> tuple[str, ...]:
    return tuple(task.id for task in plan.order() if task.id not in results)
