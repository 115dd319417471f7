"""The supervisor: plan, send what can be done, revise when findings say so, stop at the caps."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Send

from nodes.execution.dispatch_registry import DispatchRegistry
from nodes.limits.deadline import (
    count_plan_tasks,
    get_elapsed_s,
    is_deadline_past,
    name_deadline_option,
)
from nodes.models.catalog import ModelCatalog
from nodes.planning.assignments import build_sends
from nodes.planning.first_plan import PrepareFirstCalls, PrepareWorkers, begin_request
from nodes.planning.plan_request import DescribeDatabase, PlanRequest
from nodes.planning.replanning import list_unfinished
from nodes.planning.request import is_new_request
from nodes.planning.revision import find_revision_reason, revise_plan
from nodes.planning.routing import plan_next_step
from nodes.planning.skipping import skip_blocked
from nodes.planning.speculation import get_speculative_calls
from nodes.planning.todo_list import show_plan
from nodes.recovery.reassignment import assign_workers, emit_unavailable_workers
from nodes.schemas.team import Team
from nodes.telemetry.events import emit
from state import Context, SupervisorState, enter_expenses, require_plan


async def supervise(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    prepare: PrepareWorkers,
    dispatches: DispatchRegistry,
    describe_database: DescribeDatabase,
    prepare_first_calls: PrepareFirstCalls,
) -> SupervisorState:
    """Plan a new request; otherwise settle what the last dispatch left, and decide what is next.

    Raises:
        RequestInvalid: there is no request to plan.
        PlanInvalid: no valid plan within the repairs.
        ModelError: the planner cannot be reached.
    """
    asked = PlanRequest(
        state=state,
        config=config,
        runtime=runtime,
        team=team,
        models=models,
        describe_database=describe_database,
    )
    if is_new_request(state):
        update = await begin_request(asked, prepare, prepare_first_calls)
        if update["todo"]:
            await emit_unavailable_workers(team)
    else:
        dispatches.close(runtime, config)
        update = await _decide_next(asked)
        calls = get_speculative_calls(config)
        # A task that was given to another worker has left its call.
        if calls and (unused := await calls.keep_planned(None)):
            update["ledger"] = {**update.get("ledger", {}), **enter_expenses(*unused)}
    if runtime.context.sequential:
        update["todo"] = update["todo"][:1]
    if update["todo"] and not update.get("awaits_approval"):
        dispatches.open(runtime, config, state.get("materials", {}))
        plan = update.get("plan") or require_plan(state)
        results = {} if "planned_for" in update else state.get("results", {})
        update["assigned"] = await assign_workers(plan, update["todo"], results, team)
    update = {**update, **_show_plan(state, update, config)}
    if update["todo"] and not update.get("awaits_approval"):
        await emit("dispatched", tasks=list(update["todo"]))
    return update


def _show_plan(
    state: SupervisorState, update: SupervisorState, config: RunnableConfig
) -> SupervisorState:
    """Return the plan after an update as a to-do list; the reply to small talk has none.

    Its tasks count for a default deadline.
    """
    plan = update["plan"] if "plan" in update else state.get("plan")
    if plan is None:
        return {"todos": ()}
    is_new = "planned_for" in update
    count_plan_tasks(config, len(plan.tasks))
    results = {} if is_new else {**state.get("results", {}), **update.get("results", {})}
    sent = () if update.get("awaits_approval") else update["todo"]
    return show_plan(config, plan, results, sent=sent)


async def _decide_next(asked: PlanRequest) -> SupervisorState:
    """Revise the plan where a finding asks for it, else take the next step or continue it."""
    state, team = asked.state, asked.team
    reason, unrevised = await find_revision_reason(state, team), SupervisorState()
    if reason and not is_deadline_past(asked.config):
        unrevised = await revise_plan(asked, reason)
        if "plan" in unrevised:
            return unrevised
    reported = len(state.get("results", {}))
    if team.strategy == "step" and state.get("reports_at_last_dispatch", -1) < reported:
        step = await plan_next_step(asked)
        if step is not None:
            return {**step, "ledger": {**unrevised.get("ledger", {}), **step.get("ledger", {})}}
    return {**unrevised, **await _continue_plan(asked)}


async def _continue_plan(asked: PlanRequest) -> SupervisorState:
    """Skip what cannot be done any more; send what is left, unless a cap ends the run."""
    state, config = asked.state, asked.config
    plan, results = require_plan(state), state.get("results", {})
    lost = skip_blocked(plan, results, at_s=get_elapsed_s(config))
    for report in lost.values():
        await emit(
            "task_skipped", task=report.task, worker=report.worker, reason=report.error or ""
        )
    settled = {**results, **lost}
    is_stuck = len(results) == state.get("reports_at_last_dispatch")
    todo = () if is_stuck else list_unfinished(plan, settled)
    left = asked.count_steps_left()
    if todo and (left <= 0 or is_deadline_past(config)):
        option = {"option": name_deadline_option(config)} if left > 0 else {}
        await emit("deadline" if left > 0 else "budget", unfinished=list(todo), **option)
        todo = ()
    return {
        "results": lost,
        "reports_at_last_dispatch": len(settled),
        "steps_left": left,
        "answered_objections": tuple(settled),
        "todo": todo,
    }


def after_supervisor(state: SupervisorState) -> list[Send | str] | str:
    """Send every unfinished task at once, in topological order; with none, go to the answer.

    The monitor goes with them where a report may change tasks that wait. Studio's edits call a
    router without a runtime, so all it needs is in the state.
    """
    if state.get("awaits_approval"):
        return "approval"
    if state.get("plan") is None:  # the reply to small talk
        return "synthesizer"
    sends = build_sends(state, state["todo"])
    if not sends:
        return "synthesizer"
    waiting = list_unfinished(require_plan(state), state.get("results", {}))
    return [*sends, *(["monitor"] if len(waiting) > 1 else [])]
