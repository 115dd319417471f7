"""The next step of a team that decides after each result who is next (`strategy: step`)."""

from typing import Any, get_args

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.errors import ModelError
from nodes.limits.deadline import is_deadline_past
from nodes.limits.step_cap import count_steps_left
from nodes.models.catalog import EMBEDDED, ModelCatalog
from nodes.planning.replanning import build_plan_event, compare_plans, list_unfinished
from nodes.planning.routing import choose_next_step
from nodes.schemas.beside import PlanningValues, lay_beside
from nodes.schemas.team import Team
from nodes.security.provenance import build_origin_after_results
from nodes.telemetry.events import emit
from state import Context, Expense, SupervisorState, Tier, enter_expenses, require_plan

NOT_JUDGED = (
    "no tool was called, and without a language model nothing judged that this is an answer"
)


async def plan_next_step(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
) -> SupervisorState | None:
    """Decide who goes next after a result; None while a step is still unfinished."""
    plan, results = require_plan(state), state.get("results", {})
    left = count_steps_left(state, runtime.context, team)
    max_tasks = runtime.context.max_tasks or team.max_tasks
    if list_unfinished(plan, results):
        return None
    if len(plan.tasks) >= max_tasks or left <= 0 or is_deadline_past(config):
        cut = "a cap ended the run before it was decided that the request is answered"
        return {"stop_reason": cut, "todo": ()}
    planners = models.get_available_models(
        team.planner_tier, runtime.context, team.get_parameters("planner")
    )
    materials = state.get("materials", {})
    beside = PlanningValues(team, state["request"], materials, given=tuple(results.values()))
    try:
        with lay_beside(beside):
            grown, decision, usage = await choose_next_step(
                planners, team, state["request"], list(materials), plan, results
            )
    except ModelError as error:
        cut = f"no further step could be decided: {error}"
        await emit("error", code=error.code, message=cut)
        return {"stop_reason": cut, "todo": ()}
    await emit("judged", decision=decision.model_dump(mode="json"), stage="step")
    spent = Expense(
        worker="supervisor",
        tier=team.planner_tier,
        usage=usage,
        purpose="step",
        attempt=len(plan.tasks),
    )
    ledger = enter_expenses(spent)
    if grown is None:
        is_judged = _has_language_model(team, models, runtime.context)
        # An attempt with one call has called no tool.
        is_judged = is_judged or any(each.usage.model_calls > 1 for each in results.values())
        return {"ledger": ledger, "todo": (), "stop_reason": "" if is_judged else NOT_JUDGED}
    grown = grown.model_copy(update={"version": len(state["plans"]) + 1})
    why: dict[str, Any] = {"reason": decision.reason, "difference": compare_plans(plan, grown)}
    await emit("plan_revised", **build_plan_event(grown, team), **why)
    return {
        "plan": grown,
        "plans": (grown,),
        "origin": build_origin_after_results(state),
        "ledger": ledger,
        "reports_at_last_dispatch": len(results),
        "steps_left": left,
        "todo": list_unfinished(grown, results),
    }


def _has_language_model(team: Team, models: ModelCatalog, context: Context) -> bool:
    """Return whether any model of a run is a language model; a remote worker has its own."""
    names = {models.get_name(tier, context) for tier in get_args(Tier)}
    return names != {EMBEDDED} or any(worker.remote for worker in team.workers)
