"""The step in which a human approves the plan before its tasks run."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from langgraph.runtime import Runtime

from nodes.human.request import MAX_UNUSABLE_REPLIES, ask, build_plan_request
from nodes.models.catalog import EMBEDDED, ModelCatalog
from nodes.models.rule_model import get_rule_model
from nodes.models.structured_output import UnreadableReply, read_value
from nodes.planning.certificates import describe_run, find_excess, make_certificate
from nodes.planning.coverage import note_uncovered
from nodes.planning.replanning import build_plan_event
from nodes.planning.validation import list_plan_problems, list_vague_tasks
from nodes.schemas.team import Team
from nodes.telemetry.events import build_task_path, emit
from state import Context, Plan, SupervisorState, Task, require_plan

KEPT_FIELDS = {"aggregation", "final_instruction"}
"""Of a plan: what an edit that leaves them out does not change."""

LAST_PLAN: Final = "This is the last plan that is made: to reject it ends the run."
REASON_HINT: Final = (
    "Without a language model the reason of a rejection can only choose workers: say “only” or "
    "“without” and their names."
)
UNUSABLE_REASON: Final = (
    "another plan takes a language model; accept this one, edit it, say “only” or “without” and "
    "the names of workers, or word the request differently in a new run"
)


async def approve(
    state: SupervisorState,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
) -> SupervisorState:
    """Ask a human about the plan; return it as accepted, edited, or rejected with an objection.

    An edited plan is validated like any other, but its tasks may be vague. A reason that cannot
    change the plan without a language model is refused, and the question is asked again; so is an
    edit that is outside of the run's certificate. For the forms of a reply see `nodes.human.reply`.
    """
    plan = state["plan"]
    assert plan is not None, "the supervisor has planned"
    problems: list[str] = []
    team = team.apply_context(runtime.context)
    max_tasks = runtime.context.max_tasks or team.max_tasks
    planned = partial(describe_run, state, team=team, models=models, context=runtime.context)
    certificate = await make_certificate(planned(plan))
    plans_by_rule = models.get_name(team.planner_tier, runtime.context) == EMBEDDED
    estimate = None if state.get("revisions") else state.get("estimate")  # of the first version
    warning = LAST_PLAN if state.get("revisions", 0) >= team.max_revisions else ""
    hint = REASON_HINT if plans_by_rule and not warning else ""
    for _ in range(MAX_UNUSABLE_REPLIES):
        task = build_task_path()
        shown = build_plan_request(plan, problems, task, estimate, certificate, warning, hint)
        decision = ask(shown)
        problems = [decision.message]
        if decision.kind == "approve":
            await emit("plan_approved", version=plan.version, edited=False)
            return {"awaits_approval": False, "objection": ""}
        if decision.kind == "reject":
            if plans_by_rule and not get_rule_model().can_use_reason(team, plan, decision.message):
                problems = [UNUSABLE_REASON]
                continue
            objection = decision.message or "the plan was rejected without a reason"
            return {"awaits_approval": False, "objection": objection}
        if decision.kind == "edit":
            edited, problems = _read_edit(decision.args or {}, state, team, max_tasks)
            if edited is not None and (excess := await find_excess(planned(edited))):
                edited, problems = None, [f"the certificate of this run: {excess}"]
            if edited is not None:
                return await _accept_edit(edited, state, team, plans_by_rule=plans_by_rule)
    return {"awaits_approval": False, "objection": f"a reply that cannot be used: {problems[0]}"}


async def _accept_edit(
    edited: Plan, state: SupervisorState, team: Team, *, plans_by_rule: bool
) -> SupervisorState:
    before = {task.id: task for task in require_plan(state).tasks}
    tasks = tuple(_drop_old_parts(task, before.get(task.id)) for task in edited.tasks)
    if plans_by_rule:  # what a changed task did is no longer shared with it
        words = {task.id: task.description for task in tasks}
        changed = [name for name, old in before.items() if words.get(name) != old.description]
        tasks = tuple(_drop_links(task, changed) for task in tasks)
    edited = edited.model_copy(update={"version": len(state["plans"]) + 1, "tasks": tasks})
    edited = await asyncio.to_thread(note_uncovered, edited, state["request"], team)
    await emit("plan_approved", **build_plan_event(edited, team), edited=True)
    return {"awaits_approval": False, "objection": "", "plan": edited, "plans": (edited,)}


def _drop_links(task: Task, names: Sequence[str]) -> Task:
    words = get_rule_model().drop_links(task.description, names)
    return task.model_copy(update={"description": words})


def _drop_old_parts(task: Task, before: Task | None) -> Task:
    """Return a task without the parts of the request that it covered, where its words are new."""
    is_new = before and task.description != before.description and task.covers == before.covers
    return task.model_copy(update={"covers": ()}) if is_new else task


def _read_edit(
    args: Mapping[str, Any], state: SupervisorState, team: Team, max_tasks: int
) -> tuple[Plan | None, list[str]]:
    """Return an edited plan, or None and what is wrong with it."""
    plan = state["plan"]
    kept = plan.model_dump(mode="json", include=KEPT_FIELDS) if plan else {}
    try:
        edited = read_value({**kept, **args}, Plan)
    except UnreadableReply as error:
        return None, error.problems
    problems = list_plan_problems(
        edited, team, max_tasks=max_tasks, materials=state.get("materials", {})
    )
    return (None, [*problems, *list_vague_tasks(edited.tasks)]) if problems else (edited, [])
