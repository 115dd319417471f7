"""The step in which a worker works on its handoff, ending in a report."""

from dataclasses import asdict
from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from nodes.execution.attempt import WorkerAgents, choose_doer, make_attempt
from nodes.execution.dispatch import Dispatch
from nodes.execution.doer import Doer, Work
from nodes.limits.deadline import CHEAPEST_TIER, get_elapsed_s, is_deadline_past, should_degrade
from nodes.limits.recorder import read_outside
from nodes.limits.run_scope import get_run_scope, has_checkpointer, is_stopped
from nodes.limits.stop_requests import STOPPED
from nodes.limits.worker_load import get_team_load
from nodes.models.catalog import ModelCatalog
from nodes.models.guarded_model import GuardedModel, apply_parameters
from nodes.models.run_context import get_run_context
from nodes.planning.skipping import build_skip_report
from nodes.schemas.team import Team, Worker
from nodes.telemetry.events import emit
from state import Attempt, Context, Rung, Tier, WorkerState


async def act(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    worker: Worker,
    team: Team,
    models: ModelCatalog,
    agents: WorkerAgents,
    dispatch: Dispatch,
) -> WorkerState:
    """Make one attempt at the task. Whatever goes wrong is written into the attempt.

    A task that was reassigned is done by the other worker's own loop, with its own tools. A first
    attempt for which the run's caps leave nothing holds the task; near the caps, one that the
    others can do without is left out. So is one that a human stopped before it began.
    """
    state, team = _add_materials(state, config, dispatch), team.apply_context(runtime.context)
    task, number = state["task"], len(state["attempts"]) + 1
    dispatch.record_attempts(task.id, number - 1)
    assigned, tier, rung = _choose_worker(state, worker, team)
    if number == 1 and (reason := _find_skip_reason(state, config)):
        return await _skip_task(state, config, dispatch, reason)
    if should_degrade(config):
        tier = CHEAPEST_TIER
    if wall := _find_cap_reached(dispatch, task.id, config):
        return _stop_at_cap(state, dispatch, wall, assigned, tier)
    started_s = get_elapsed_s(config)
    model = apply_parameters(models.get_chat_model(tier, runtime.context), assigned.parameters)
    assigned = await _scale_timeout(assigned, model)
    work = Work(
        state=state,
        context=runtime.context,
        worker=assigned,
        tier=tier,
        model=model,
        is_checkpointed=has_checkpointer(config),
        max_steps=max(1, dispatch.count_steps_left()),
    )
    doer = choose_doer(work, agents, is_divided=rung == "split" or task.is_compound)
    attempt = await _make_attempt(doer, config, rung, dispatch, team, runtime)
    inner = f"{task.id}/{number}"
    dispatch.record_attempts(inner, doer.steps)
    return {
        "attempts": {str(number): attempt.model_copy(update={"rung": rung})},
        "started_s": state.get("started_s", started_s),
        "steps": {task.id: number, **({inner: doer.steps} if doer.steps else {})},
    }


def after_act(state: WorkerState) -> Literal["assess", "__end__"]:
    """A task that could not even begin, or was left out, ends here."""
    is_over = state.get("released") or state["task"].id in state.get("results", {})
    return "__end__" if is_over else "assess"


def _add_materials(state: WorkerState, config: RunnableConfig, dispatch: Dispatch) -> WorkerState:
    """Return the state with the task's materials, of which a checkpoint holds the names only."""
    if "materials" in state:  # they came with the task, outside of a run's graph
        return state
    of_run = get_run_scope(config).materials.get(dispatch.graph_ns, {})
    return {**state, "materials": {name: of_run[name] for name in state["task"].materials}}


async def _make_attempt(
    doer: Doer,
    config: RunnableConfig,
    rung: Rung | None,
    dispatch: Dispatch,
    team: Team,
    runtime: Runtime[Context],
) -> Attempt:
    work, capacity = doer.work, get_team_load(team)
    task, name = work.task.id, work.worker.name
    await emit(
        "task_started",
        task=task,
        worker=name,
        attempt=work.number,
        tier=work.tier,
        rung=rung or "",
        handoff=work.describe_handoff(),
        load=asdict(capacity.measure_load(name)),
    )
    try:
        with capacity.count_attempt(name, runtime.store):
            return await make_attempt(doer, config)
    except GraphBubbleUp:  # a human is asked inside; dependants proceed without this result
        dispatch.release(task)
        raise


def _choose_worker(
    state: WorkerState, worker: Worker, team: Team
) -> tuple[Worker, Tier, Rung | None]:
    """Return who makes the attempt, by which tier, and the rung that led to it."""
    change = state.get("change")
    if change is None:
        return worker, worker.choose_tier(state["task"].tier), None
    return team.find_worker(change.worker), change.tier, change.rung


async def _scale_timeout(worker: Worker, model: BaseChatModel) -> Worker:
    """Return the worker with more time for a slow model."""
    if not isinstance(model, GuardedModel) or worker.remote:
        return worker
    factor = read_outside("factor", lambda: model.speed.limit_factor, usual=1.0)
    limits = worker.limits.scale_timeout(factor)
    if limits is worker.limits:
        return worker
    await get_run_context().emit_limits_scaled(model.model, model.speed)
    return worker.model_copy(update={"limits": limits})


def _find_skip_reason(state: WorkerState, config: RunnableConfig) -> str:
    """Return why a task is not begun; empty if it is."""
    if is_stopped(config, state["task"].id):
        return STOPPED
    if state["is_dispensable"] and should_degrade(config):
        return "the run nears its caps, and the tasks that want this one can do without"
    return ""


async def _skip_task(
    state: WorkerState, config: RunnableConfig, dispatch: Dispatch, reason: str
) -> WorkerState:
    """Report a task as skipped, before its first attempt."""
    task = state["task"]
    await emit("task_skipped", task=task.id, worker=task.worker, reason=reason)
    report = build_skip_report(task, reason, at_s=get_elapsed_s(config))
    dispatch.publish_report(task.id, report)
    return {"results": {task.id: report}}


def _find_cap_reached(dispatch: Dispatch, task: str, config: RunnableConfig) -> str:
    """Return what forbids another attempt; empty when the attempt is counted and may begin."""
    if is_stopped(config, task):
        return STOPPED
    if is_deadline_past(config):
        return "the run's deadline is reached"
    is_free = read_outside("has steps", lambda: dispatch.count_steps_left() > 0, usual=True)
    return "" if is_free and dispatch.spend_step(task) else "the run's step cap is reached"


def _stop_at_cap(
    state: WorkerState, dispatch: Dispatch, wall: str, worker: Worker, tier: Tier
) -> WorkerState:
    """Hold a task that never began; one that did ends with the cap as its last error."""
    number = len(state["attempts"]) + 1
    if number == 1:
        dispatch.release(state["task"].id)
        return {"released": True, "steps": {state["task"].id: 0}}
    spent = Attempt(
        description=state["description"],
        error=wall,
        fault="permanent",
        worker=worker.name,
        tier=tier,
    )
    return {"attempts": {str(number): spent}}
