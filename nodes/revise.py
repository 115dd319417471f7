"""The step that revises the plan while tasks of its former version are at work."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Send

from nodes.execution.dispatch_registry import DispatchRegistry, withdraw_tasks
from nodes.limits.recorder import pass_point
from nodes.models.catalog import ModelCatalog
from nodes.planning.assignments import build_sends
from nodes.planning.plan_request import PlanRequest
from nodes.planning.revision import find_revision_reason, list_objecting, revise_plan
from nodes.recovery.reassignment import assign_workers
from nodes.schemas.team import Team
from nodes.telemetry.events import emit
from state import Context, SupervisorState, require_plan


async def revise(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    dispatches: DispatchRegistry,
) -> SupervisorState:
    """Return the next version of the plan, with the tasks to begin now.

    Tasks at work stay as they are. Waiting tasks that the new version leaves unchanged
    continue to wait where they are; the others are held. Without a valid new version all continue.
    """
    dispatch = await dispatches.join_from_node(runtime, config, steps_left=state["steps_left"])
    reason, read = await find_revision_reason(state, team), list_objecting(state)
    await pass_point("read reports")
    # Reports that came since the review, or come from now on, are read by the next monitor.
    running = dispatch.list_running()
    results = {**state.get("results", {}), **dispatch.list_reports()}
    read_state: SupervisorState = {**state, "results": results}
    asked = PlanRequest(state=read_state, config=config, runtime=runtime, team=team, models=models)
    update = await revise_plan(asked, reason, running=running)
    update["answered_objections"] = (*state.get("answered_objections", ()), *read)
    if "plan" in update:
        old, new = require_plan(state), require_plan(update)
        withdraw_tasks(dispatch, old, new)
        former = {task.id: task for task in old.tasks}
        changed = {task.id for task in new.tasks if task != former.get(task.id)}
        update["todo"] = tuple(name for name in update["todo"] if name in changed)
        dispatch.reopen(update["todo"])
        update["assigned"] = await assign_workers(new, update["todo"], results, team)
        await emit("dispatched", tasks=list(update["todo"]))
    # Under a limit the next monitor may get its turn only after the tasks that wait.
    if config.get("max_concurrency") or not (dispatch.watch and dispatch.watch.has_unread):
        dispatch.may_start.set()
    return update


def after_revise(state: SupervisorState) -> list[Send | str]:
    """Send the new tasks, and the monitor with them."""
    return [*build_sends(state, state["todo"]), "monitor"]
