"""The first plan of a request, by the team's strategy."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, get_args

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from nodes.errors import ModelError, PlanInvalid, SupervisorError, is_refusal
from nodes.errors.redaction import redact_text
from nodes.human.messages import build_plan_message
from nodes.limits.clock import get_elapsed_s, get_request_s
from nodes.limits.run_scope import get_run_scope
from nodes.limits.step_cap import count_steps_left
from nodes.limits.worker_load import get_team_load
from nodes.models.available_models import AvailableModels
from nodes.models.catalog import EMBEDDED, ModelCatalog
from nodes.models.price_check import require_prices
from nodes.models.run_context import TextListener
from nodes.planning.coverage import note_uncovered
from nodes.planning.direct_reply import begin_direct_reply, find_direct_reply
from nodes.planning.estimate import estimate_run
from nodes.planning.examples import (
    MAX_ROUTE_EXAMPLES,
    keep_near_plans,
    keep_nearest_examples,
    keep_plan_examples,
)
from nodes.planning.plan_stream import BeginTask, PlanStream
from nodes.planning.planner import make_plan
from nodes.planning.replanning import build_plan_event, list_unfinished
from nodes.planning.request import (
    is_last_message,
    read_history,
    read_kept_materials,
    read_request,
)
from nodes.planning.routing import choose_next_step, route_by_rule, route_request
from nodes.planning.speculation import get_speculative_calls
from nodes.planning.team_record import build_team_record
from nodes.planning.validation import list_plan_problems, may_divide
from nodes.planning.writing_workers import add_unwritten
from nodes.prompts.messages import build_plan_messages
from nodes.prompts.tags import shorten_text
from nodes.schemas.beside import InnerRequestValues, PlanningValues, get_beside, lay_beside
from nodes.schemas.replies import Decision
from nodes.schemas.team import Team, Worker
from nodes.security.provenance import build_request_origin
from nodes.telemetry.events import emit
from state import (
    REOPENED,
    Context,
    Expense,
    Plan,
    SupervisorState,
    Tier,
    Usage,
    enter_expenses,
    reset_for_new_request,
)

TIERS: tuple[Tier, ...] = get_args(Tier)

PrepareWorkers = Callable[[Team], Awaitable[None]]
"""Builds what the workers of a team need, while the planner's model is at work."""
DescribeDatabase = Callable[[], Awaitable[str]]
"""Returns the tables that tools of the team can query, a line each; empty without a database."""


PrepareFirstCalls = Callable[[SupervisorState, RunnableConfig, Context, Team], BeginTask | None]
"""Returns what begins the first call of a task; None where none may begin early."""


NO_DIVISION = "the built-in model divides a task only where an example of the team does"
NO_CRITIC = "no critic reviews the answer: the built-in model cannot, a language model can"


def prepare_no_calls(*_: Any) -> None:
    """Begin no call before the plan is complete."""


async def describe_no_database() -> str:
    """Return that there is no table to query."""
    return ""


async def begin_request(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    prepare: PrepareWorkers,
    describe_database: DescribeDatabase = describe_no_database,
    prepare_first_calls: PrepareFirstCalls = prepare_no_calls,
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
    request = read_request(state)
    materials, context = state.get("materials", {}), runtime.context
    scope = get_run_scope(config)
    # What an event log holds was spent on this request: it was killed before it had a plan.
    if scope.budget and scope.read_logged_usage is None:
        scope.budget.reset()
    await require_prices(names, models, context)
    given: dict[str, Any] = {
        "materials": list(materials),
        "kept_materials": read_kept_materials(config),
        "workers": describe_workers(team),
        **_describe_strategy(team, context, names),
    }
    await emit("request", request=request, team=team.name, models=names, **given)
    # All tiers now: one that cannot be reached as set is told before anything is spent. In a
    # thread, since a provider's library is imported with its first model.
    for tier in names:
        await asyncio.to_thread(models.get_chat_model, tier, context)
    await get_team_load(team).load_from_store(runtime.store)
    begun: SupervisorState = {
        **state,
        "given": scope.prior_results,
        "origin": build_request_origin(state, request, config),
    }
    begin = prepare_first_calls(begun, config, context, team)
    calls = get_speculative_calls(config)
    planning = asyncio.ensure_future(
        _make_first_plan(
            state,
            config,
            models,
            request,
            context,
            team=team,
            describe_database=describe_database,
            read_text=PlanStream(team, materials, begin).read_text if begin else None,
        )
    )
    try:
        await asyncio.gather(planning, prepare(team), models.preload_prices())
    except SupervisorError:
        if calls:
            await calls.keep_planned(None)
        raise
    finally:
        planning.cancel()  # when a tool of the team cannot be loaded
    plan, usage, routing = planning.result()
    unused = await calls.keep_planned(plan) if calls else []
    plan = plan.model_copy(update={"version": len(state.get("plans", ())) + 1})
    estimate = estimate_run(
        plan, team, models, context, materials=materials, planning=usage + routing
    )
    awaits_approval = team.approve_plan or context.approve_plan
    shown = {**build_plan_event(plan, team), "estimate": estimate.model_dump(mode="json")}
    await emit("plan_created", **shown, awaits_approval=awaits_approval)
    tier = team.planner_tier
    spent = [Expense(worker="supervisor", tier=tier, usage=usage, purpose="plan"), *unused]
    if routing.model_calls:
        spent.append(Expense(worker="supervisor", tier=tier, usage=routing, purpose="route"))
    paid = state.get("ledger", {}) if state.get("planned_for") == REOPENED else {}
    return {
        **reset_for_new_request(),
        "request": request,
        "planned_for": request,
        "given": begun["given"],
        "origin": begun["origin"],
        "team_record": build_team_record(team),
        "messages": [
            *([] if is_last_message(state, request) else [HumanMessage(request)]),
            *([build_plan_message(plan)] if awaits_approval else []),
        ],
        "plan": plan,
        "plans": (plan,),
        # It takes the place of an earlier request's ledger, which the reducer would keep.
        "ledger": Overwrite({**paid, **enter_expenses(*spent)}),  # type: ignore[typeddict-item]
        "estimate": estimate,
        "awaits_approval": awaits_approval,
        "max_attempts": context.max_attempts or team.max_attempts,
        "steps_left": count_steps_left({}, context, team),
        "asked_s": asked_s,
        "planned_s": get_elapsed_s(config),
        "todo": list_unfinished(plan, {}),
    }


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


async def _make_first_plan(
    state: SupervisorState,
    config: RunnableConfig,
    models: ModelCatalog,
    request: str,
    context: Context,
    *,
    team: Team,
    describe_database: DescribeDatabase,
    read_text: TextListener | None,
) -> tuple[Plan, Usage, Usage]:
    """Return the plan, its usage, and that of a router which decided that a plan is needed."""
    materials = state.get("materials", {})
    max_tasks = context.max_tasks or team.max_tasks
    if (given := get_run_scope(config).given_plan) is not None:
        if problems := list_plan_problems(given, team, max_tasks=max_tasks, materials=materials):
            raise PlanInvalid("the given plan cannot be run", cause="; ".join(problems))
        return await asyncio.to_thread(note_uncovered, given, request, team), Usage(), Usage()
    plan_all = partial(
        _plan_all,
        state,
        config,
        models,
        request,
        context,
        describe_database=describe_database,
        read_text=read_text,
    )
    planners = models.get_available_models(
        team.planner_tier, context, team.get_parameters("planner")
    )
    is_embedded = models.get_name(team.planner_tier, context) == EMBEDDED
    if team.strategy not in ("route", "step"):
        plan, usage = await plan_all(team=team)
        return plan, usage, Usage()
    inner = get_beside(InnerRequestValues)
    with lay_beside(PlanningValues(team, inner.words if inner else request, materials)):
        routed, decision, usage = await _choose_workers(
            planners,
            request,
            list(materials),
            max_tasks=max_tasks,
            team=team,
            is_embedded=is_embedded,
        )
    await emit("judged", decision=decision.model_dump(mode="json"), stage=team.strategy)
    if routed is not None:
        if is_embedded:
            routed = await asyncio.to_thread(add_unwritten, routed, team)
        return routed, usage, Usage()
    try:
        plan, planning = await plan_all(team=keep_plan_examples(team))
    except SupervisorError as error:
        error.usage = usage + (error.usage or Usage())
        raise
    return plan, planning, usage


async def _choose_workers(
    planners: AvailableModels,
    request: str,
    materials: Sequence[str],
    *,
    max_tasks: int,
    team: Team,
    is_embedded: bool,
) -> tuple[Plan | None, Decision, Usage]:
    """Return the plan of a team that routes or steps; None where its router wants a planner.

    Where no model can be reached a rule chooses the worker, whose own model may be.
    """
    try:
        if team.strategy == "step":
            return await choose_next_step(planners, team, request, materials, None, {})
        shown = None
        if not is_embedded:
            shown = await asyncio.to_thread(
                keep_nearest_examples, team, request, MAX_ROUTE_EXAMPLES
            )
        return await route_request(
            planners, team, request, materials, max_tasks=max_tasks, prompt_team=shown
        )
    except ModelError as error:
        if is_refusal(error):
            raise
        await emit("error", code=error.code, message=f"the request is routed by rule: {error}")
        problem = redact_text(error.describe())
        routed, decision = await route_by_rule(team, request, materials, problem=problem)
        return routed, decision, error.usage or Usage()


async def _plan_all(
    state: SupervisorState,
    config: RunnableConfig,
    models: ModelCatalog,
    request: str,
    context: Context,
    *,
    team: Team,
    describe_database: DescribeDatabase,
    read_text: TextListener | None,
) -> tuple[Plan, Usage]:
    """Return a plan of the whole request."""
    reported = get_run_scope(config).prior_results
    materials, max_tasks = state.get("materials", {}), context.max_tasks or team.max_tasks
    database = await describe_database()
    ask_team = partial(
        build_plan_messages,
        request=request,
        materials=materials,
        max_tasks=max_tasks,
        history=read_history(state),
        may_divide=may_divide(team),
        load=get_team_load(team).describe_loads(team),
        given=reported,
        database=database,
    )
    planners = models.get_available_models(
        team.planner_tier, context, team.get_parameters("planner")
    )
    is_embedded = models.get_name(team.planner_tier, context) == EMBEDDED
    prompt_team = team
    if not is_embedded:  # a model of meaning may be loaded from its file
        prompt_team = await asyncio.to_thread(keep_near_plans, team, request, [*materials])
    inner = get_beside(InnerRequestValues)
    words = inner.words if inner else request
    with lay_beside(PlanningValues(team, words, materials, database, reported)):
        plan, usage = await make_plan(
            planners,
            team.drop_needs(reported),
            ask_team(prompt_team),
            max_tasks=max_tasks,
            materials=materials,
            request="" if is_embedded else words,
            goal="" if is_embedded else words,
            build_rule_messages=None if is_embedded else lambda: ask_team(team),
            read_text=read_text,
        )
    # A rule plans each part, and names those for which it has no task.
    if is_embedded or plan.is_by_rule:  # it reads the tools from their files
        return await asyncio.to_thread(add_unwritten, plan, team), usage
    return await asyncio.to_thread(note_uncovered, plan, words, team), usage


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
