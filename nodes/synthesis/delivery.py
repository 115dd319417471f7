"""The end of a run: the answer with the run's status, bill and time."""

from collections.abc import Mapping

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from nodes.limits.clock import get_elapsed_s
from nodes.limits.run_scope import get_run_scope
from nodes.limits.worker_load import TeamLoad
from nodes.telemetry.cost import find_unattributed, sum_ledger
from nodes.telemetry.events import build_task_path, emit
from nodes.telemetry.latency import measure_latency
from state import Answer, Expense, RunStatus, SupervisorState


async def deliver_answer(
    state: SupervisorState,
    config: RunnableConfig,
    *,
    answer: Answer,
    status: RunStatus,
    ledger: dict[str, Expense],
    capacity: TeamLoad,
    store: BaseStore | None,
) -> SupervisorState:
    """Tell the answer and give the state's last update; the ledger is what is new in it."""
    await capacity.save_to_store(store)
    plan = state["plan"]
    assert plan is not None, "the supervisor has planned"
    ledger = {**ledger, **_collect_cut_off_usage({**state.get("ledger", {}), **ledger}, config)}
    bill = sum_ledger({**state.get("ledger", {}), **ledger}, state.get("estimate"))
    timing = measure_latency(
        plan,
        state.get("results", {}),
        asked_s=state["asked_s"],
        planned_s=state["planned_s"],
        ended_s=get_elapsed_s(config),
    )
    await emit(
        "answer",
        answer=answer.model_dump(mode="json"),
        status=status,
        usage=bill.model_dump(mode="json"),
        timing=timing.model_dump(mode="json"),
    )
    return {
        "answer": answer,
        "status": status,
        "messages": [AIMessage(answer.text)],
        "ledger": ledger,
        "usage": bill,
        "timing": timing,
    }


def _collect_cut_off_usage(
    ledger: Mapping[str, Expense], config: RunnableConfig
) -> dict[str, Expense]:
    """Return what attempts that were cut off before a resume had spent, by the run's journal.

    The journal tells of the whole run, so this is nothing that a team inside a task could enter.
    """
    told = get_run_scope(config).read_logged_usage
    return (
        find_unattributed(ledger, told(), is_over=True)
        if told and not build_task_path(config)
        else {}
    )
