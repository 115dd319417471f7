"""Delivery of the answer, with the run's status, usage and timing, and as a chat message."""

from collections.abc import Mapping
from typing import Final

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore

from nodes.limits.deadline import get_elapsed_s
from nodes.limits.run_scope import get_run_scope
from nodes.limits.worker_load import TeamLoad
from nodes.synthesis.answer_stream import AnswerStream
from nodes.telemetry.cost import find_unattributed, measure_latency, sum_ledger
from nodes.telemetry.events import build_task_path, emit
from nodes.text.markdown import escape_active_markdown, format_answer
from nodes.text.phrases import say
from nodes.text.plain_text import make_printable
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
    stream: AnswerStream | None = None,
) -> SupervisorState:
    """Send the answer event and return the last state update; `ledger` has the new entries.

    Args:
        stream: has sent the beginning of the message; without it the message is sent whole.
    """
    await capacity.save_to_store(store)
    ledger = {**ledger, **_collect_cut_off_usage({**state.get("ledger", {}), **ledger}, config)}
    usage = sum_ledger({**state.get("ledger", {}), **ledger}, state.get("estimate"))
    timing = measure_latency(
        state.get("plan"),
        state.get("results", {}),
        asked_s=state["asked_s"],
        planned_s=state["planned_s"],
        ended_s=get_elapsed_s(config),
    )
    await emit(
        "answer",
        answer=answer.model_dump(mode="json"),
        status=status,
        usage=usage.model_dump(mode="json"),
        timing=timing.model_dump(mode="json"),
    )
    plan = state.get("plan")
    shown = write_chat_message(answer, status, is_planned=plan is not None)
    message = (stream or AnswerStream(config)).finish(shown)
    return {
        "answer": answer,
        "status": status,
        "messages": [message],
        "ledger": ledger,
        "usage": usage,
        "timing": timing,
    }


def _collect_cut_off_usage(
    ledger: Mapping[str, Expense], config: RunnableConfig
) -> dict[str, Expense]:
    """Return the usage of attempts that were cut off before a resume, from the event log.

    The log covers the whole run, so a team inside a task must not add its entries.
    """
    read_log_usage = get_run_scope(config).read_logged_usage
    return (
        find_unattributed(ledger, read_log_usage(), is_over=True)
        if read_log_usage and not build_task_path(config)
        else {}
    )


_STATUS_KEYS: Final[Mapping[str, str]] = {
    "passages": "status_passages",
    "partial": "status_partial",
    "failed": "status_failed",
}
"""Keys of the phrases for what is less than an answer."""


def write_chat_message(answer: Answer, status: RunStatus, *, is_planned: bool = True) -> str:
    """Return the answer as Markdown that is safe to render; it begins with the answer's text.

    Args:
        is_planned: it rests on tasks; the reply to small talk is shown without a confidence.
    """
    shown = format_answer(answer.model_dump(mode="json")) if is_planned else answer.text
    if status in _STATUS_KEYS:
        name = say(answer.language, "status")
        shown += f"\n\n**{name}:** {say(answer.language, _STATUS_KEYS[status])}"
    return escape_active_markdown(make_printable(shown))
