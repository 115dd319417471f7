"""Decisions by worker instead of by plan: which worker takes a request, and which runs next.

Both produce an ordinary plan: routing one of one or two tasks, stepping one that grows by a task
after each result. So dispatch, recovery and the answer are the same for all strategies. A router
may also decide that a request needs a plan, where its team allows that.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, get_args

from langchain_core.messages import AnyMessage

from nodes.errors import ModelError
from nodes.limits.deadline import is_deadline_past
from nodes.limits.worker_load import choose_least_busy_worker, get_team_load
from nodes.models.catalog import EMBEDDED, AvailableModels
from nodes.models.rule_model import find_rule_model
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.planning.plan_request import PlanRequest
from nodes.planning.replanning import build_plan_event, compare_plans, list_unfinished
from nodes.planning.vagueness import explain_vagueness
from nodes.prompts.messages import build_route_messages, build_step_messages
from nodes.schemas.handoff import PlanningValues, lay_beside
from nodes.schemas.replies import Decision
from nodes.schemas.single_agent import SINGLE_AGENT
from nodes.schemas.team import Team
from nodes.security.provenance import build_origin_after_results
from nodes.telemetry.events import emit
from nodes.text.phrases import detect_language, say
from nodes.text.plain_text import sanitize_text
from state import Plan, Report, SupervisorState, Task, Tier, Usage, require_plan

MAX_DESCRIPTION_CHARS = 4000
"""The limit of a task's description."""
REQUEST_HEADING = "\n\nThe request, in the user's words:\n"


async def route_request(
    models: AvailableModels,
    team: Team,
    request: str,
    materials: Sequence[str],
    *,
    max_tasks: int,
    prompt_team: Team | None = None,
) -> tuple[Plan | None, Decision, Usage]:
    """Return the plan and the decision which worker takes a request; no plan if it needs a planner.

    That is a pinned worker, else the model's choice, else a choice by rule. The router's words for
    the task come before the request. Where the caps allow only one task, there is no secondary
    worker, and no request needs a planner.

    Args:
        prompt_team: the team with the examples that the model is shown.

    Raises:
        ModelError: the model cannot be reached.
    """
    decision, usage = _match_pinned_route(team, request), Usage()
    if decision is None:
        load = get_team_load(team).describe_loads(team)
        asking = build_route_messages(prompt_team or team, request, materials, load=load)
        decision, usage = await _ask_decision(models, team, asking, may_end=False)
        if decision.needs_plan and team.plan_when_needed and max_tasks > 1:
            return None, decision, usage
        decision = _prefer_idle_worker(decision, team)
    if max_tasks < 2:
        decision = decision.model_copy(update={"secondary": ""})
    return _build_route_plan(decision, request, materials), decision, usage


async def route_by_rule(
    team: Team, request: str, materials: Sequence[str], *, problem: str
) -> tuple[Plan, Decision]:
    """Return the plan, marked as made by rule, and the decision of a request that no model routes.

    The nearest worker takes it; where none is near, the generalist, else the first.

    Args:
        problem: why no model decides.
    """
    asking = build_route_messages(team, request, materials)
    worker = (await _decide_by_rule(asking)).worker or team.generalist or team.roster[0].name
    decision = Decision(worker=worker, reason=f"chosen by rule: {problem}")
    plan = _build_route_plan(decision, request, materials)
    return plan.model_copy(update={"rule_reason": problem}), decision


def plan_for_one_agent(request: str, materials: Sequence[str]) -> Plan:
    """Return the plan of a team that is a single agent: the request as its one task."""
    words = request[:MAX_DESCRIPTION_CHARS]
    task = Task(
        id="T1",
        description=words,
        worker=SINGLE_AGENT,
        materials=tuple(materials),
        covers=(words,),
    )
    return Plan(goal=words, tasks=(task,))


def _build_route_plan(decision: Decision, request: str, materials: Sequence[str]) -> Plan:
    chosen = {decision.worker: decision.task}
    if decision.secondary:
        chosen[decision.secondary] = decision.secondary_task
    tasks = tuple(
        Task(
            id=name,
            description=_describe_task(words, request),
            worker=name,
            materials=tuple(materials),
            covers=(request[:MAX_DESCRIPTION_CHARS],),
        )
        for name, words in chosen.items()
    )
    return Plan(goal=request[:MAX_DESCRIPTION_CHARS], tasks=tasks)


def _describe_task(words: str, request: str) -> str:
    """Return the router's words and the request, so that nothing of it is lost.

    The request alone where the words repeat it, are vague, or leave no room for it.
    """
    task = sanitize_text(words).strip()
    described = f"{task}{REQUEST_HEADING}{request}"
    is_repeated = " ".join(task.split()) in " ".join(request.split())
    if is_repeated or len(described) > MAX_DESCRIPTION_CHARS or explain_vagueness(task):
        return request[:MAX_DESCRIPTION_CHARS]
    return described


async def choose_next_step(
    models: AvailableModels,
    team: Team,
    request: str,
    materials: Sequence[str],
    plan: Plan | None,
    results: Mapping[str, Report],
) -> tuple[Plan | None, Decision, Usage]:
    """Return the plan with the next step that the model chooses; None when the request is done.

    Raises:
        ModelError: the model cannot be reached.
    """
    load = get_team_load(team).describe_loads(team)
    asking = build_step_messages(team, request, materials, tuple(results.values()), load=load)
    decision, usage = await _ask_decision(models, team, asking, may_end=plan is not None)
    if decision.is_done and plan is not None:
        return None, decision, usage
    done = plan.tasks if plan else ()
    taken = {earlier.id for earlier in done}
    task = Task.model_validate(
        {
            "id": next(f"S{n}" for n in count(len(done) + 1) if f"S{n}" not in taken),
            "description": (decision.task or request)[:MAX_DESCRIPTION_CHARS],
            "worker": decision.worker,
            "depends_on": [{"task": earlier.id, "required": False} for earlier in done],
            "materials": materials,
        }
    )
    return Plan(goal=request[:MAX_DESCRIPTION_CHARS], tasks=(*done, task)), decision, usage


async def plan_next_step(asked: PlanRequest) -> SupervisorState | None:
    """Decide who goes next after a result; None while a step is still unfinished."""
    state, team, left = asked.state, asked.team, asked.count_steps_left()
    plan, results = require_plan(state), state.get("results", {})
    if list_unfinished(plan, results):
        return None
    language = await asyncio.to_thread(detect_language, state["request"])
    if team.is_held:
        return {"stop_reason": say(language, "held_here"), "todo": ()}
    if len(plan.tasks) >= asked.max_tasks or left <= 0 or is_deadline_past(asked.config):
        return {"stop_reason": say(language, "cap_before"), "todo": ()}
    materials, given = asked.materials, tuple(results.values())
    try:
        with lay_beside(PlanningValues(team, asked.request, materials, given=given)):
            grown, decision, usage = await choose_next_step(
                asked.get_planners(), team, asked.request, list(materials), plan, results
            )
    except ModelError as error:
        cut = say(language, "no_step", error=error)
        await emit("error", code=error.code, message=cut)
        return {"stop_reason": cut, "todo": ()}
    await emit("judged", decision=decision.model_dump(mode="json"), stage="step")
    ledger = asked.bill("step", usage, attempt=len(plan.tasks))
    if grown is None:
        # An attempt with one call has called no tool.
        has_called = any(each.usage.model_calls > 1 for each in results.values())
        is_judged = has_called or _has_language_model(asked)
        cut = "" if is_judged else say(language, "not_judged")
        return {"ledger": ledger, "todo": (), "stop_reason": cut}
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


def _has_language_model(asked: PlanRequest) -> bool:
    """Return whether any model of a run is a language model; a remote worker has its own."""
    names = {asked.models.get_name(tier, asked.context) for tier in get_args(Tier)}
    return names != {EMBEDDED} or any(worker.remote for worker in asked.team.workers)


async def _ask_decision(
    models: AvailableModels, team: Team, asking: Sequence[AnyMessage], *, may_end: bool
) -> tuple[Decision, Usage]:
    names = [worker.name for worker in team.roster]
    schema = _build_decision_schema(tuple(names), may_plan=team.plan_when_needed and not may_end)
    try:
        purpose = "step" if may_end else "route"
        reply = await models.ask(Decision, asking, parameters=schema, purpose=purpose)
        decision, usage = reply.value, reply.usage + models.lost_usage
    except UnreadableReply as error:
        reason = f"chosen by rule, as the model's reply was unusable: {error}"
        decision = (await _decide_by_rule(asking)).model_copy(update={"reason": reason})
        usage = error.usage + models.lost_usage
    if decision.worker not in names and not (decision.is_done and may_end):
        fallback = team.generalist or (await _decide_by_rule(asking)).worker or names[0]
        named = f"{decision.worker!r} is not a worker" if decision.worker else "no worker was named"
        reason = f"{decision.reason} ({named}, so {fallback} takes it)"
        decision = decision.model_copy(
            update={"worker": fallback, "secondary": "", "reason": reason.strip()}
        )
    if decision.secondary not in names or decision.secondary == decision.worker:
        decision = decision.model_copy(update={"secondary": ""})
    return decision, usage


async def _decide_by_rule(asking: Sequence[AnyMessage]) -> Decision:
    """Return the built-in model's decision; it names no worker if none is near the request."""
    if (rule := find_rule_model()) is None:
        return Decision()
    return (await ask_model(rule.build(), Decision, asking)).value


def _prefer_idle_worker(decision: Decision, team: Team) -> Decision:
    """Return the decision with a busy worker replaced by a fallback that will be done sooner."""
    chosen, load = team.find_worker(decision.worker), get_team_load(team)
    other = choose_least_busy_worker(chosen, team, load)
    if other is chosen or other.name == decision.secondary:
        return decision
    busy = load.measure_load(chosen.name).describe()
    others = load.measure_load(other.name)
    spare = f"has {others.describe()}" if others.in_flight else "is idle"
    reason = f"{decision.reason} ({chosen.name} is busy: {busy}; {other.name} {spare})"
    return decision.model_copy(update={"worker": other.name, "reason": reason.strip()})


def _match_pinned_route(team: Team, request: str) -> Decision | None:
    """Return the team's first route whose words are all in the request; None without one."""
    lowered = request.lower()
    for words, worker in team.routes.items():
        if all(word in lowered for word in words.lower().split()):
            return Decision(worker=worker, reason=f"the team's route for {words!r} goes to it")
    return None


@cache
def _build_decision_schema(workers: tuple[str, ...], *, may_plan: bool) -> dict[str, Any]:
    """Return the schema of a decision that accepts only these workers."""
    schema = Decision.model_json_schema()
    if not may_plan:
        del schema["properties"]["needs_plan"]
    for field in ("worker", "secondary"):
        schema["properties"][field]["enum"] = [*workers, ""]
    return schema
