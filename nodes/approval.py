"""The step in which a person sees the plan before anything of it runs."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from nodes.models.json_reading import InvalidJson, read_json_object
from nodes.models.structured_output import UnreadableReply, read_value
from nodes.planning.replanning import build_plan_event
from nodes.planning.validation import list_plan_problems, list_vague_tasks
from nodes.telemetry.events import build_task_path, emit
from state import Context, Plan, SupervisorState, Team

ACCEPTING_REPLIES = {"accept", "accepted", "approve", "approved", "ok", "y", "yes", "true"}
MIN_OBJECTION_WORDS = 3
"""A shorter reply that is neither yes nor no is a slip, and is asked about again."""
MAX_UNUSABLE_REPLIES = 5
"""Replies that cannot be used; after the last one the plan counts as rejected."""


async def approve(
    state: SupervisorState, runtime: Runtime[Context], *, team: Team
) -> SupervisorState:
    """Show the plan; take it as it is, as edited, or with an objection back to the supervisor.

    An edited plan is checked like any other, but its tasks may be vague. A reply may be words
    (`accept`, `reject: why`), the JSON of a plan, or an object: `{"accept": true}`,
    `{"plan": {...}}`, `{"reject": "why"}`.
    """
    plan = state["plan"]
    assert plan is not None, "the supervisor has planned"
    wrong: list[str] = []
    max_tasks = runtime.context.max_tasks or team.max_tasks
    for _ in range(MAX_UNUSABLE_REPLIES):
        way, edited, wrong = _read_reply(
            interrupt(_build_question(plan, wrong, build_task_path())), state, team, max_tasks
        )
        if way == "accept":
            await emit("plan_approved", version=plan.version, edited=False)
            return {"awaits_approval": False, "objection": ""}
        if way == "reject":
            return {"awaits_approval": False, "objection": wrong[0]}
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
    return {"awaits_approval": False, "objection": f"an edit that cannot be used: {wrong[0]}"}


def _build_question(plan: Plan, wrong: list[str], task: str) -> dict[str, Any]:
    """Put the plan before a person; `task` is the one that an inner team plans for."""
    return {
        "kind": "plan",
        **({"task": task} if task else {}),
        "plan": plan.model_dump(mode="json"),
        "reply": "accept, reject: <why>, or the plan as edited",
        "problems": wrong,
    }


def _read_reply(
    reply: Any, state: SupervisorState, team: Team, max_tasks: int
) -> tuple[Literal["accept", "reject", "edit"], Plan | None, list[str]]:
    if isinstance(reply, str):
        reply = _parse_reply_text(reply)
    said = reply if isinstance(reply, Mapping) else {}
    # A form sends all its fields: an edited plan that is accepted is an edit.
    if reply is True or (said.get("accept") is True and not said.get("plan")):
        return "accept", None, []
    if said.get("reject") not in (None, False):
        return "reject", None, [str(said["reject"]) or "the plan was rejected without a reason"]
    given = said.get("plan", reply)
    try:
        edited = read_value(given if isinstance(given, Mapping | str) else repr(given), Plan)
    except UnreadableReply as error:
        return "edit", None, error.problems
    wrong = list_plan_problems(
        edited, team, max_tasks=max_tasks, materials=state.get("materials", {})
    )
    return (
        ("edit", None, [*wrong, *list_vague_tasks(edited.tasks)]) if wrong else ("edit", edited, [])
    )


def _parse_reply_text(reply: str) -> Any:
    words = reply.strip()
    if words.lower().rstrip(".!") in ACCEPTING_REPLIES:
        return True
    way, _, reason = words.partition(":")
    if way.strip().lower() in ("reject", "rejected", "no", "n"):
        return {"reject": reason.strip()}
    is_plan = words.startswith(("{", "[{", "```"))
    try:
        return read_json_object(words) if is_plan else json.loads(words)
    except InvalidJson:
        return words  # what is wrong with it is told to whom wrote it: no objection to the plan
    except (json.JSONDecodeError, RecursionError):
        return {"reject": words} if len(words.split()) >= MIN_OBJECTION_WORDS else words
