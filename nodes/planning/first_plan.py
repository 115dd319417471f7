"""The first plan of a request, by the team's strategy."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, get_args

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Overwrite

from nodes.errors import GivenPlanInvalid, ModelError, SupervisorError, is_refusal
from nodes.errors.redaction import redact_text
from nodes.human.request import build_plan_message
from nodes.limits.deadline import count_steps_left, get_elapsed_s, get_request_s
from nodes.limits.recorder import take_fact
from nodes.limits.worker_load import get_team_load
from nodes.models.catalog import EMBEDDED, require_prices
from nodes.planning.certificates import make_certificate, needs_approval
from nodes.planning.coverage import note_uncovered
from nodes.planning.direct_reply import find_direct_reply
from nodes.planning.estimate import estimate_plan
from nodes.planning.plan_request import PlanRequest
from nodes.planning.planner import make_plan
from nodes.planning.replanning import build_plan_event, list_unfinished
from nodes.planning.request import (
    find_request_text,
    is_last_message,
    list_read_attachments,
    read_history,
    read_kept_materials,
    read_request,
)
from nodes.planning.routing import (
    choose_next_step,
    plan_for_one_agent,
    route_by_rule,
    route_request,
)
from nodes.planning.speculation import BeginTask, PlanStream, get_speculative_calls
from nodes.planning.team_record import build_team_record
from nodes.planning.tool_fit import add_unwritten
from nodes.planning.validation import list_plan_problems, may_divide
from nodes.prompts.messages import build_plan_messages
from nodes.prompts.tags import shorten_text
from nodes.proof import find_file_names
from nodes.schemas.handoff import PlanningValues, lay_beside
from nodes.schemas.replies import Decision
from nodes.schemas.team import Example, Team, Worker
from nodes.security.provenance import build_request_origin
from nodes.telemetry.events import emit
from nodes.text.similarity import rank_examples
from state import (
    REOPENED,
    Answer,
    Context,
    Estimate,
    Expense,
    Plan,
    SupervisorState,
    Tier,
    Usage,
    enter_expenses,
    reset_for_new_request,
)

TIERS: tuple[Tier, ...] = get_args(Tier)
MAX_INSTRUCTIONS_CHARS: Final = 1_000
MAX_DESCRIPTION_CHARS: Final = 300
NO_DIVISION = "the built-in model divides a task only where an example of the team does"
NO_CRITIC = "no critic reviews the answer: the built-in model cannot, a language model can"

PrepareWorkers = Callable[[Team], Awaitable[None]]
"""Builds what the workers of a team need, while the planner's model is at work."""
PrepareFirstCalls = Callable[[SupervisorState, RunnableConfig, Context, Team], BeginTask | None]
"""Returns what begins the first call of a task; None where none may begin early."""


class Planned(NamedTuple):
    """A plan, what it cost, and what a router cost that decided that a plan is needed."""

    plan: Plan
    usage: Usage
    routing: Usage = Usage()


async def begin_request(
    asked: PlanRequest, prepare: PrepareWorkers, prepare_first_calls: PrepareFirstCalls
) -> SupervisorState:
    """Return the state of a new request, with its plan; small talk has a reply and no plan.

    Raises:
        RequestInvalid: there is no request to plan.
        PlanInvalid: no valid plan within the repairs.
        ModelError: the planner cannot be reached.
    """
    state, config, team = asked.state, asked.config, asked.team
    names = asked.models.name_all(asked.context)
    if (reply := find_direct_reply(state, config, team)) is not None:
        return await _reply_directly(asked, reply, names)
    entered = _enter_request(asked, read_request(state))
    begun: SupervisorState = {
        **state,
        "request": entered["request"],
        "given": entered["given"],
        "origin": entered["origin"],
    }
    asked = replace(asked, state=begun)
    await _accept_request(asked, names)
    await get_team_load(team).load_from_store(asked.runtime.store)
    if begin := prepare_first_calls(begun, config, asked.context, team):
        asked = replace(asked, read_text=PlanStream(team, asked.materials, begin).read_text)
    planned = await _plan_while_preparing(asked, prepare)
    calls = get_speculative_calls(config)
    unused = await calls.keep_planned(planned.plan) if calls else []
    return {
        **entered,
        **await _enter_plan(planned, asked, entered["messages"], enter_expenses(*unused)),
        "max_attempts": asked.context.max_attempts or team.max_attempts,
        "steps_left": count_steps_left({}, asked.context, team),
        "planned_s": get_elapsed_s(config),
    }


def _enter_request(asked: PlanRequest, request: str) -> SupervisorState:
    """Return the channels of a request, whether it is planned or has a reply."""
    state, config = asked.state, asked.config
    is_message = not find_request_text(state) or is_last_message(state, request)
    return {
        **reset_for_new_request(),
        "request": request,
        "planned_for": request,
        "given": asked.scope.prior_results,
        "origin": build_request_origin(state, find_request_text(state), config),
        "team_record": build_team_record(asked.team),
        "messages": [] if is_message else [HumanMessage(request)],
        "asked_s": get_request_s(config),
    }


async def _reply_directly(
    asked: PlanRequest, reply: str, names: Mapping[Tier, str]
) -> SupervisorState:
    """Return the state of a request that has a reply; the synthesizer delivers it."""
    said = find_request_text(asked.state)
    named = said or ", ".join(list_read_attachments(asked.state)) or "files that were not read"
    entered = _enter_request(asked, named)
    given: dict[str, Any] = {"materials": list(asked.materials), "kept_materials": []}
    await emit("request", request=said, team=asked.team.name, models=names, **given)
    return {
        **entered,
        "given": (),
        "plan": None,
        # Without a language model no answer has a confidence.
        "answer": Answer(text=reply, confidence=None if {*names.values()} == {EMBEDDED} else 100),
        "estimate": Estimate(),
        "planned_s": get_elapsed_s(asked.config),
        "todo": (),
    }


async def _accept_request(asked: PlanRequest, names: Mapping[Tier, str]) -> None:
    """Emit what is asked of whom; what cannot be used is said before anything is spent."""
    team, context, scope = asked.team, asked.context, asked.scope
    # What an event log holds was spent on this request: it was killed before it had a plan.
    if scope.budget and scope.read_logged_usage is None:
        scope.budget.reset()
    await require_prices(names, asked.models, context)
    given: dict[str, Any] = {
        "materials": list(asked.materials),
        "kept_materials": read_kept_materials(asked.config),
        "workers": {worker.name: _describe_worker(worker) for worker in team.roster},
        **_describe_strategy(team, context, names),
    }
    await emit("request", request=asked.request, team=team.name, models=names, **given)
    # In a thread, since a provider's library is imported with its first model.
    for tier in names:
        await asyncio.to_thread(asked.models.get_chat_model, tier, context)


async def _plan_while_preparing(asked: PlanRequest, prepare: PrepareWorkers) -> Planned:
    """Return the plan; meanwhile what the workers need is built, and the prices are read."""
    planning = asyncio.ensure_future(make_first_plan(asked))
    try:
        await asyncio.gather(planning, prepare(asked.team), asked.models.preload_prices())
    except SupervisorError:
        if calls := get_speculative_calls(asked.config):
            await calls.keep_planned(None)
        raise
    finally:
        planning.cancel()  # when a tool of the team cannot be loaded
    return planning.result()


async def _enter_plan(
    planned: Planned,
    asked: PlanRequest,
    messages: Sequence[AnyMessage],
    unused: Mapping[str, Expense],
) -> SupervisorState:
    """Emit the plan; return its channels, with what planning has cost."""
    team, state = asked.team, asked.state
    plan = planned.plan.model_copy(update={"version": len(state.get("plans", ())) + 1})
    estimate = await estimate_plan(asked, plan, planned.usage + planned.routing)
    if asked.context.certificate is not None or asked.scope.on_certificate:
        certificate = await make_certificate(asked.describe_run(plan))
        if certificate and asked.scope.on_certificate:
            asked.scope.on_certificate(certificate)
    awaits_approval = needs_approval(plan, team, asked.context, estimate)
    shown = {**build_plan_event(plan, team), "estimate": estimate.model_dump(mode="json")}
    await emit("plan_created", **shown, awaits_approval=awaits_approval)
    routing = asked.bill("route", planned.routing) if planned.routing.model_calls else {}
    paid = state.get("ledger", {}) if state.get("planned_for") == REOPENED else {}
    ledger = {**paid, **asked.bill("plan", planned.usage), **routing, **unused}
    return {
        "messages": [*messages, *([build_plan_message(plan)] if awaits_approval else [])],
        "plan": plan,
        "plans": (plan,),
        # It takes the place of an earlier request's ledger, which the reducer would keep.
        "ledger": Overwrite(ledger),  # type: ignore[typeddict-item]
        "estimate": estimate,
        "awaits_approval": awaits_approval,
        "todo": list_unfinished(plan, {}),
    }


async def make_first_plan(asked: PlanRequest) -> Planned:
    """Return the first plan of a request: the given one, or one by the team's strategy.

    Raises:
        PlanInvalid: the given plan cannot be run, or there is no valid one within the repairs.
        ModelError: the planner cannot be reached.
    """
    if (given := asked.scope.given_plan) is not None:
        return Planned(await _check_given(given, asked), Usage())
    if asked.team.strategy == "single":
        return Planned(plan_for_one_agent(asked.request, list(asked.materials)), Usage())
    if asked.team.strategy in ("route", "step"):
        return await _route(asked)
    return await _plan_whole(asked)


async def _check_given(given: Plan, asked: PlanRequest) -> Plan:
    problems = list_plan_problems(
        given, asked.team, max_tasks=asked.max_tasks, materials=asked.materials
    )
    if problems:
        said, then = "; ".join(problems), "correct it, and give it to a new run"
        raise GivenPlanInvalid("the given plan cannot be run", cause=said, next=then)
    return await asyncio.to_thread(note_uncovered, given, asked.request, asked.team)


async def _route(asked: PlanRequest) -> Planned:
    """Return the plan of one worker or two, or one of a planner where the router wants it."""
    with lay_beside(PlanningValues(asked.team, asked.words, asked.materials, before=asked.before)):
        routed, decision, usage = await _choose_workers(asked)
    await emit("judged", decision=decision.model_dump(mode="json"), stage=asked.team.strategy)
    if routed is not None:
        if asked.is_by_rule:
            routed = await asyncio.to_thread(add_unwritten, routed, asked.team)
        return Planned(routed, usage)
    shown = replace(asked, team=keep_plan_examples(asked.team))
    try:
        planned = await _plan_whole(shown)
    except SupervisorError as error:
        error.usage = usage + (error.usage or Usage())
        raise
    return planned._replace(routing=usage)


async def _choose_workers(asked: PlanRequest) -> tuple[Plan | None, Decision, Usage]:
    """Return the plan of a team that routes or steps; None where its router wants a planner.

    Where no model can be reached a rule chooses the worker, whose own model may be.
    """
    team, request, names = asked.team, asked.request, list(asked.materials)
    planners, near = asked.get_planners(), None
    try:
        if team.strategy == "step":
            return await choose_next_step(planners, team, request, names, None, {})
        if not asked.is_by_rule:
            near = await asyncio.to_thread(keep_nearest_examples, team, request, MAX_ROUTE_EXAMPLES)
        return await route_request(
            planners, team, request, names, max_tasks=asked.max_tasks, prompt_team=near
        )
    except ModelError as error:
        if is_refusal(error):
            raise
        await emit("error", code=error.code, message=f"the request is routed by rule: {error}")
        problem = redact_text(error.describe())
        routed, decision = await route_by_rule(team, request, names, problem=problem)
        return routed, decision, error.usage or Usage()


async def _plan_whole(asked: PlanRequest) -> Planned:
    """Return a plan of the whole request."""
    team, materials, words = asked.team, asked.materials, asked.words
    reported = asked.scope.prior_results
    describe = asked.describe_database
    database = await take_fact("tables of the database", describe) if describe else ""
    ask_team = partial(
        build_plan_messages,
        request=asked.request,
        materials=materials,
        max_tasks=asked.max_tasks,
        history=read_history(asked.state),
        may_divide=may_divide(team),
        load=get_team_load(team).describe_loads(team),
        given=reported,
        database=database,
    )
    is_by_rule, prompt_team = asked.is_by_rule, team
    if not is_by_rule:  # a model of meaning may be loaded from its file
        prompt_team = await asyncio.to_thread(keep_near_plans, team, asked.request, [*materials])
    with lay_beside(PlanningValues(team, words, materials, database, reported, None, asked.before)):
        plan, usage = await make_plan(
            asked.get_planners(),
            team.drop_needs(reported),
            ask_team(prompt_team),
            max_tasks=asked.max_tasks,
            materials=materials,
            request="" if is_by_rule else words,
            build_rule_messages=None if is_by_rule else lambda: ask_team(team),
            read_text=asked.read_text,
        )
    # A rule plans each part, and names those for which it has no task.
    if is_by_rule or plan.is_by_rule:  # it reads the tools from their files
        return Planned(await asyncio.to_thread(add_unwritten, plan, team), usage)
    return Planned(await asyncio.to_thread(note_uncovered, plan, words, team), usage)


def _describe_strategy(team: Team, context: Context, names: Mapping[Tier, str]) -> dict[str, Any]:
    """Return how the supervisor works in this run, and what of it the built-in model cannot do."""
    shown: dict[str, Any] = {"strategy": team.strategy, "notes": []}
    if team.strategy == "recursive":
        shown |= {"max_recursion": team.max_recursion, "max_breadth": team.max_breadth}
        if names[team.planner_tier] == EMBEDDED:
            shown["notes"].append(NO_DIVISION)
    if team.recruit:
        shown["grant"] = list(team.grant)
    shown["notes"] += [f"the single agent does not have {each}" for each in team.left_out]
    if context.critic in ("on", "below") and names[team.judge_tier] == EMBEDDED:
        shown["notes"].append(NO_CRITIC)
    return shown


def _describe_worker(worker: Worker) -> dict[str, Any]:
    """Return what a worker is told and may use; long texts are cut."""
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


MAX_EXAMPLES = 2
"""Limit of examples of plans in a prompt: more cost tokens, and a small model copies them."""
MAX_ROUTE_EXAMPLES = 12
"""Limit of examples of routes, which are short."""


def keep_nearest_examples(team: Team, request: str, limit: int) -> Team:
    """Return the team with the examples that are nearest to a request, the nearest first."""
    if len(team.examples) <= limit:
        return team
    ranked = rank_examples(request, [example.request for example in team.examples])
    nearest = tuple(team.examples[index] for index, _ in ranked[:limit])
    return team.model_copy(update={"examples": nearest})


def keep_near_plans(team: Team, request: str, materials: Collection[str]) -> Team:
    """Return the team with the one or two examples of plans nearest to a request, that one last.

    None names a file that the request does not come with: a model would name it, too.
    """
    fitting = [each for each in team.examples if _list_files(each) <= {*materials}]
    ranked = rank_examples(request, [each.request for each in fitting])
    kept = [fitting[at] for at, is_near in ranked[:MAX_EXAMPLES] if is_near]
    kept = kept or [fitting[at] for at, _ in ranked[:1]]
    return team.model_copy(update={"examples": tuple(reversed(kept))})


def _list_files(example: Example) -> set[str]:
    """Return the files that an example's plan needs or names."""
    tasks = example.plan.tasks
    words = " ".join([example.request, *(task.description for task in tasks)])
    return {name for task in tasks for name in task.materials} | {*find_file_names(words)}


def keep_plan_examples(team: Team) -> Team:
    """Return the team with the examples of several tasks, for a request that needs a plan."""
    kept = tuple(example for example in team.examples if len(example.plan.tasks) > 1)
    return team.model_copy(update={"examples": kept})
