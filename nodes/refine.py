"""The step between two attempts: rewrites the task from its error."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.errors import ModelError, UsageError
from nodes.limits.stop_requests import TaskStopped
from nodes.limits.stopped_tasks import enforce_stop
from nodes.models.catalog import ModelCatalog
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.prompts.messages import build_refine_messages
from nodes.schemas.beside import RefinementValues, lay_beside
from nodes.schemas.replies import Refinement
from nodes.telemetry.events import emit
from state import Context, Expense, Tier, Usage, WorkerState, enter_expenses

REFINE_TIER: Tier = "fast"


async def refine(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    models: ModelCatalog,
) -> WorkerState:
    """Return a new description for the next attempt.

    If the rewrite fails, keep the description; the next attempt still sees the error. That of a
    task that a human stops ends at once.
    """
    task, number = state["task"], len(state["attempts"])
    try:
        async with enforce_stop(config, task.id):
            with lay_beside(RefinementValues(state["description"], state["problem"])):
                reply = await ask_model(
                    models.get_chat_model(REFINE_TIER, runtime.context),
                    Refinement,
                    build_refine_messages(task, state["description"], state["problem"]),
                )
    except TaskStopped:
        return {}
    except (ModelError, UsageError, UnreadableReply) as error:
        return {"ledger": _build_ledger_entry(task.id, number, error.usage)} if error.usage else {}
    await emit(
        "refined",
        task=task.id,
        worker=state["change"].worker,
        attempt=number,
        error=state["problem"],
        reason=reply.value.reason,
        description=reply.value.description,
    )
    return {
        "description": reply.value.description,
        "ledger": _build_ledger_entry(task.id, number, reply.usage),
    }


def _build_ledger_entry(task: str, number: int, usage: Usage) -> dict[str, Expense]:
    spent = Expense(
        worker="supervisor",
        tier=REFINE_TIER,
        usage=usage,
        purpose="refine",
        task=task,
        attempt=number,
    )
    return enter_expenses(spent)
