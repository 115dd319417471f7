"""The step between two attempts: rewrites the task from its error."""

from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.errors import ModelError, UsageError
from nodes.limits.run_scope import enforce_stop
from nodes.limits.stop_requests import TaskStopped
from nodes.models.catalog import ModelCatalog
from nodes.models.guarded_model import apply_parameters
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.prompts.messages import build_refine_messages
from nodes.proof.grounds import LIGHT_STEMS
from nodes.proof.passages import list_words
from nodes.schemas.handoff import RefinementValues, lay_beside
from nodes.schemas.replies import Refinement
from nodes.telemetry.events import emit
from state import Context, Expense, Tier, Usage, WorkerState, enter_expenses

REFINE_TIER: Tier = "fast"
MAX_LIKENESS = 0.8
"""Of a rewrite and the words of its own form, by difflib's ratio: it repeats them."""


async def refine(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    models: ModelCatalog,
    parameters: Mapping[str, Any],
) -> WorkerState:
    """Return a new description for the next attempt.

    If the rewrite fails or is none, keep the description; the next attempt still sees the error.
    That of a task that a human stops ends at once.

    Args:
        parameters: of the request, such as `temperature`.
    """
    task, number = state["task"], len(state["attempts"])
    messages = build_refine_messages(task, state["description"], state["problem"])
    try:
        async with enforce_stop(config, task.id):
            with lay_beside(RefinementValues(state["description"], state["problem"])):
                model = models.get_chat_model(REFINE_TIER, runtime.context)
                reply = await ask_model(apply_parameters(model, parameters), Refinement, messages)
    except TaskStopped:
        return {}
    except (ModelError, UsageError, UnreadableReply) as error:
        return {"ledger": _build_ledger_entry(task.id, number, error.usage)} if error.usage else {}
    spent: WorkerState = {"ledger": _build_ledger_entry(task.id, number, reply.usage)}
    if flaw := find_flaw(reply.value.description, state["description"]):
        await emit("refinement_refused", task=task.id, attempt=number, reason=flaw)
        return spent
    await emit(
        "refined",
        task=task.id,
        worker=state["change"].worker,
        attempt=number,
        error=state["problem"],
        reason=reply.value.reason,
        description=reply.value.description,
    )
    return {"description": reply.value.description, "ledger": spent["ledger"]}


def find_flaw(rewrite: str, description: str) -> str:
    """Return why a rewrite of a task is none; empty where it is one.

    A small model repeats the words of the form that it fills in, or writes of something else.
    """
    for field in Refinement.model_fields.values():
        alike = SequenceMatcher(None, rewrite.casefold(), (field.description or "").casefold())
        if field.description and alike.ratio() > MAX_LIKENESS:
            return "it repeats the words of its form"
    asked, kept = ({*list_words(text)} - LIGHT_STEMS for text in (description, rewrite))
    if asked and not asked & kept:
        return "it has no name, figure or word of the task"
    return ""


def _build_ledger_entry(task: str, number: int, usage: Usage) -> dict[str, Expense]:
    spent = Expense(worker="supervisor", tier=REFINE_TIER, usage=usage, purpose="refine")
    return enter_expenses(spent.model_copy(update={"task": task, "attempt": number}))
