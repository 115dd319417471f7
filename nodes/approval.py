"""The step in which a human approves the plan before its tasks run."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from nodes.models.structured.json_reading import InvalidJson, read_json_object
from nodes.models.structured_output import UnreadableReply, read_value
from nodes.planning.replanning import build_plan_event
from nodes.planning.validation import list_plan_problems, list_vague_tasks
from nodes.schemas.team import Team
from nodes.telemetry.events import build_task_path, emit
from state import Context, Plan, SupervisorState

ACCEPTING_REPLIES = {"accept", "accepted", "approve", "approved", "ok", "y", "yes", "true"}
MIN_OBJECTION_WORDS = 3
"""A shorter reply that is neither yes nor no counts as a mistake: the question is repeated."""
MAX_UNUSABLE_REPLIES = 5
"""Limit for unusable replies; after the last one the plan counts as rejected."""


async def approve(
    state: SupervisorState, runtime: Runtime[Context], *, team: Team
) -> SupervisorState:
    """Ask a human about the plan; return it as accepted, edited, or rejected with an objection.

    An edited plan is validated like any other, but its tasks may be vague. A reply may be text
    (`accept`, `reject: why`), the JSON of a plan, or an object: `{"accept": true}`,
    `{"plan": {...}}`, `{"reject": "why"}`.
    """
    plan = state["plan"]
    assert plan is not None, "the supervisor has planned"
    problems: list[str] = []
    max_tasks = runtime.context.max_tasks or team.max_tasks
    for _ in range(MAX_UNUSABLE_REPLIES):
        decision, edited, problems = _read_reply(
            interrupt(_build_question(plan, problems, build_task_path())), state, team, max_tasks
        )
        if decision == "accept":
            await emit("plan_approved", version=plan.version, edited=False)
            return {"awaits_approval": False, "objection": ""}
        if decision == "reject":
            return {"awaits_approval": False, "objection": problems[0]}
        if edited is not None:
            version = len(state["plans"]) + 1
            edited = edited.model_copy(update={"version": version})
            await emit("plan_approved", **build_plan_event(edited, team), edited=True)
            return {
                "awaits_approval": False,
                "objection": "",
                "plan": edited,
                "plans": (edited,),
            }
    return {"awaits_approval": False, "objection": f"an edit that cannot be used: {problems[0]}"}


def _build_question(plan: Plan, problems: list[str], task: str) -> dict[str, Any]:
    """Return the question about the plan; `task` is the outer task of an inner team."""
    return {
        "kind": "plan",
        **({"task": task} if task else {}),
        "plan": plan.model_dump(mode="json"),
        "reply": "accept, reject: <why>, or the plan as edited",
        "problems": problems,
    }


def _read_reply(
    reply: Any, state: SupervisorState, team: Team, max_tasks: int
) -> tuple[Literal["accept", "reject", "edit"], Plan | None, list[str]]:
    if isinstance(reply, str):
        reply = _parse_reply_text(reply)
    fields = reply if isinstance(reply, Mapping) else {}
    # A form sends all its fields: an edited plan that is accepted is an edit.
    if reply is True or (fields.get("accept") is True and not fields.get("plan")):
        return "accept", None, []
    if fields.get("reject") not in (None, False):
        return "reject", None, [str(fields["reject"]) or "the plan was rejected without a reason"]
    given = fields.get("plan", reply)
    try:
        edited = read_value(given if isinstance(given, Mapping | str) else repr(given), Plan)
    except UnreadableReply as error:
        return "edit", None, error.problems
    problems = list_plan_problems(
        edited, team, max_tasks=max_tasks, materials=state.get("materials", {})
    )
    return (
        ("edit", None, [*problems, *list_vague_tasks(edited.tasks)])
        if problems
        else ("edit", edited, [])
    )


def _parse_reply_text(reply: str) -> Any:
    words = reply.strip()
    if words.lower().rstrip(".!") in ACCEPTING_REPLIES:
        return True
    decision, _, reason = words.partition(":")
    if decision.strip().lower() in ("reject", "rejected", "no", "n"):
        return {"reject": reason.strip()}
    is_plan = words.startswith(("{", "[{", "```"))
    try:
        return read_json_object(words) if is_plan else json.loads(words)
    except InvalidJson:
        return words  # validation errors go back to the editor; they do not reject the plan
    except (json.JSONDecodeError, RecursionError):
        return {"reject": words} if len(words.split()) >= MIN_OBJECTION_WORDS else words
