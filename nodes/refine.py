"""The step between two attempts: rewrite the task from its error, or let a passing fault pass."""

import asyncio
import random

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.deadline import remaining_s
from nodes.errors import ModelError
from nodes.events import emit
from nodes.models.ask import Unreadable, ask
from nodes.models.catalog import Models
from nodes.prompts import refine_messages
from state import Context, Expense, Refinement, Tier, WorkerState

TIER: Tier = "fast"
BACKOFF_S = 1.0
"""Cap of the first wait; it doubles with each attempt (full jitter, Brooker, AWS 2015)."""
MAX_BACKOFF_S = 20.0


async def refine(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    models: Models,
) -> WorkerState:
    """Prepare the next attempt.

    When no rewriting is to be had the words stay; the next attempt sees the error all the same.
    """
    task, number = state["task"], len(state["attempts"])
    attempt = state["attempts"][str(number)]
    if attempt.fault == "transient":
        await asyncio.sleep(_backoff_s(number, remaining_s(config)))
        return {}
    try:
        asked = await ask(
            models.chat(TIER, runtime.context),
            Refinement,
            refine_messages(task, state["description"], state["problem"]),
        )
    except (ModelError, Unreadable):
        return {}
    await emit(
        "refined",
        task=task.id,
        worker=task.worker,
        attempt=number,
        error=state["problem"],
        reason=asked.value.reason,
        description=asked.value.description,
    )
    spent = Expense(worker="supervisor", tier=TIER, usage=asked.usage)
    return {
        "description": asked.value.description,
        "ledger": {f"{task.id}#{number}/refine": spent},
    }


def _backoff_s(number: int, left_s: float | None) -> float:
    cap = min(MAX_BACKOFF_S, BACKOFF_S * 2 ** (number - 1))
    return random.uniform(0, cap if left_s is None else min(cap, left_s))
