"""The first plan of a request, by the team's strategy."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, get_args

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from nodes.errors import SupervisorError
from nodes.human.messages import build_plan_message
from nodes.limits.clock import get_elapsed_s, get_request_s
from nodes.limits.run_scope import get_run_scope
from nodes.limits.step_cap import count_steps_left
from nodes.limits.worker_load import get_team_load
from nodes.models.catalog import EMBEDDED, ModelCatalog, require_prices
from nodes.planning.direct_reply import begin_direct_reply, find_direct_reply
from nodes.planning.estimate import estimate_run
from nodes.planning.plan_request import DescribeDatabase, Planned, PlanRequest, make_first_plan
from nodes.planning.plan_stream import BeginTask, PlanStream
from nodes.planning.replanning import build_plan_event, list_unfinished
from nodes.planning.request import (
    is_last_message,
    read_history,
    read_kept_materials,
    read_request,
)
from nodes.planning.speculation import SpeculativeCalls, get_speculative_calls
from nodes.planning.team_record import build_team_record
from nodes.prompts.tags import shorten_text
from nodes.schemas.team import Team, Worker
from nodes.security.provenance import build_request_origin
from nodes.telemetry.events import emit
from state import (
    REOPENED,
    Context,
    Expense,
    SupervisorState,
    Tier,
    enter_expenses,
    reset_for_new_request,
)

TIERS: tuple[Tier, ...] = get_args(Tier)

PrepareWorkers = Callable[[Team], Awaitable[None]]
"""Builds what the workers of a team need, while the planner's model is at work."""
PrepareFirstCalls = Callable[[SupervisorState, RunnableConfig, Context, Team], BeginTask | None]
"""Returns what begins the first call of a task; None where none may begin early."""


NO_DIVISION = "the built-in model divides a task only where an example of the team does"
NO_CRITIC = "no critic reviews the answer: the built-in model cannot, a language model can"


async def begin_request(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    prepare: PrepareWorkers,
    describe_database: DescribeDatabase,
    prepare_first_calls: PrepareFirstCalls,
) -> SupervisorState:
    """Return the state of a new request, with its plan; small talk has a reply and no plan.

    Raises:
        RequestInvalid: there is no request to plan.
        PlanInvalid: no valid plan within the repairs.
        ModelError: the planner cannot be reached.
    """
    asked_s = get_request_s(config)
    names = {tier: models.get_name(tier, runtime.context) for tier in TIERS}
    if (reply := find_direct_reply(state, config, team)) is not None:
        return await begin_direct_reply(
            state, config, reply, team=team, models=names, asked_s=asked_s
        )
    request, context, scope = read_request(state), runtime.context, get_run_scope(config)
    await _accept_request(request, state, config, team=team, models=models, context=context)
    await get_team_load(team).load_from_store(runtime.store)
    begun: SupervisorState = {
        **state,
        "given": scope.prior_results,
        "origin": build_request_origin(state, request, config),
    }
    materials, begin = state.get("materials", {}), prepare_first_calls(begun, config, context, team)
    asked = PlanRequest(
        request=request,
        team=team,
        context=context,
        models=models,
        scope=scope,
        materials=materials,
        history=read_history(state),
        describe_database=describe_database,
        read_text=PlanStream(team, materials, begin).read_text if begin else None,
    )
    calls = get_speculative_calls(config)
    planned = await _plan_while_preparing(asked, prepare, calls)
    unused = await calls.keep_planned(planned.plan) if calls else []
    entered = await _enter_plan(planned, asked, state, unused)
    return {
        **reset_for_new_request(),
        **entered,
        "request": request,
        "planned_for": request,
        "given": begun["given"],
        "origin": begun["origin"],
        "team_record": build_team_record(team),
        "max_attempts": context.max_attempts or team.max_attempts,
        "steps_left": count_steps_left({}, context, team),
        "asked_s": asked_s,
        "planned_s": get_elapsed_s(config),
    }


async def _accept_request(
    request: str,
    state: SupervisorState,
    config: RunnableConfig,
    *,
    team: Team,
    models: ModelCatalog,
    context: Context,
) -> None:
    """Emit what is asked of whom; what cannot be used is said before anything is spent."""
    scope = get_run_scope(config)
    # What an event log holds was spent on this request: it was killed before it had a plan.
    if scope.budget and scope.read_logged_usage is None:
        scope.budget.reset()
    names = {tier: models.get_name(tier, context) for tier in TIERS}
    await require_prices(names, models, context)
    given: dict[str, Any] = {
        "materials": list(state.get("materials", {})),
        "kept_materials": read_kept_materials(config),
        "workers": describe_workers(team),
        **_describe_strategy(team, context, names),
    }
    await emit("request", request=request, team=team.name, models=names, **given)
    # In a thread, since a provider's library is imported with its first model.
    for tier in names:
        await asyncio.to_thread(models.get_chat_model, tier, context)


async def _enter_plan(
    planned: Planned, asked: PlanRequest, state: SupervisorState, unused: Sequence[Expense]
) -> SupervisorState:
    """Emit the plan; return its channels, with what planning has cost."""
    team, plan, context = asked.team, planned.plan, asked.context
    plan = plan.model_copy(update={"version": len(state.get("plans", ())) + 1})
    estimate = estimate_run(
        plan,
        team,
        asked.models,
        context,
        materials=asked.materials,
        planning=planned.usage + planned.routing,
    )
    awaits_approval = team.approve_plan or context.approve_plan
    shown = {**build_plan_event(plan, team), "estimate": estimate.model_dump(mode="json")}
    await emit("plan_created", **shown, awaits_approval=awaits_approval)
    costs = {"plan": planned.usage}
    costs |= {"route": planned.routing} if planned.routing.model_calls else {}
    spent = [
        Expense(worker="supervisor", tier=team.planner_tier, usage=usage, purpose=purpose)
        for purpose, usage in costs.items()
    ]
    paid = state.get("ledger", {}) if state.get("planned_for") == REOPENED else {}
    ledger = {**paid, **enter_expenses(*spent, *unused)}
    return {
        "messages": [
            *([] if is_last_message(state, asked.request) else [HumanMessage(asked.request)]),
            *([build_plan_message(plan)] if awaits_approval else []),
        ],
        "plan": plan,
        "plans": (plan,),
        # It takes the place of an earlier request's ledger, which the reducer would keep.
        "ledger": Overwrite(ledger),  # type: ignore[typeddict-item]
        "estimate": estimate,
        "awaits_approval": awaits_approval,
        "todo": list_unfinished(plan, {}),
    }


async def _plan_while_preparing(
    asked: PlanRequest, prepare: PrepareWorkers, calls: SpeculativeCalls | None
) -> Planned:
    """Return the plan; meanwhile what the workers need is built, and the prices are read."""
    planning = asyncio.ensure_future(make_first_plan(asked))
    try:
        await asyncio.gather(planning, prepare(asked.team), asked.models.preload_prices())
    except SupervisorError:
        if calls:
            await calls.keep_planned(None)
        raise
    finally:
        planning.cancel()  # when a tool of the team cannot be loaded
    return planning.result()


def _describe_strategy(team: Team, context: Context, names: Mapping[Tier, str]) -> dict[str, Any]:
    """Return how the supervisor works in this run, and what of it the built-in model cannot do."""
    shown: dict[str, Any] = {"strategy": team.strategy, "notes": []}
    if team.strategy == "recursive":
        shown |= {"max_recursion": team.max_recursion, "max_breadth": team.max_breadth}
        if names[team.planner_tier] == EMBEDDED:
            shown["notes"].append(NO_DIVISION)
    if team.recruit:
        shown["grant"] = list(team.grant)
    if context.critic in ("on", "below") and names[team.judge_tier] == EMBEDDED:
        shown["notes"].append(NO_CRITIC)
    return shown


MAX_INSTRUCTIONS_CHARS: Final = 1_000
MAX_DESCRIPTION_CHARS: Final = 300


def describe_workers(team: Team) -> dict[str, dict[str, Any]]:
    """Return what each worker is told and may use, by its name; long texts are cut."""
    return {worker.name: _describe_worker(worker) for worker in team.roster}


def _describe_worker(worker: Worker) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": shorten_text(worker.description, MAX_DESCRIPTION_CHARS),
        "instructions": shorten_text(worker.instructions.strip(), MAX_INSTRUCTIONS_CHARS),
        "tools": list(worker.tools),
        "tier": worker.tier,
    }
    if worker.team:
        described["team"] = worker.team.name
    if worker.remote:
        described["host"] = worker.remote.host
    return described
