"""The step between two attempts: rewrite the task from its error."""

from langgraph.runtime import Runtime

from nodes.errors import ModelError, UsageError
from nodes.events import emit
from nodes.models.ask import Unreadable, ask
from nodes.models.catalog import Models
from nodes.prompts import refine_messages
from state import Context, Expense, Refinement, Tier, Usage, WorkerState

TIER: Tier = "fast"


async def refine(state: WorkerState, runtime: Runtime[Context], *, models: Models) -> WorkerState:
    """Give the next attempt new words.

    When no rewriting is to be had the old words stay; the next attempt sees the error all the same.
    """
    task, number = state["task"], len(state["attempts"])
    try:
        asked = await ask(
            models.chat(TIER, runtime.context),
            Refinement,
            refine_messages(task, state["description"], state["problem"]),
        )
    except (ModelError, UsageError, Unreadable) as error:
        return {"ledger": _ledger(task.id, number, error.usage)} if error.usage else {}
    await emit(
        "refined",
        task=task.id,
        worker=state["change"].worker,
        attempt=number,
        error=state["problem"],
        reason=asked.value.reason,
        description=asked.value.description,
    )
    return {
        "description": asked.value.description,
        "ledger": _ledger(task.id, number, asked.usage),
    }


def _ledger(task: str, number: int, usage: Usage) -> dict[str, Expense]:
    return {f"{task}#{number}/refine": Expense(worker="supervisor", tier=TIER, usage=usage)}
