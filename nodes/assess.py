"""The step that judges an attempt by rule: report it, or try again."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.deadline import is_past
from nodes.events import elapsed_s, emit
from nodes.rendezvous import Seeds, join
from state import Attempt, Context, Expense, Report, Usage, Worker, WorkerState


async def assess(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    worker: Worker,
    seeds: Seeds,
) -> WorkerState:
    """Publish the task's report, unless another attempt may mend it."""
    task, number = state["task"], len(state["attempts"])
    attempt = state["attempts"][str(number)]
    problem = problem_of(attempt)
    meeting = await join(runtime, config, allowance=state["allowance"], seeds=seeds)
    meeting.entered(task.id)
    may_retry = (
        attempt.fault != "permanent"
        and number < state["max_attempts"]
        and meeting.allowance > 0
        and not is_past(config)
    )
    if problem and may_retry:
        return {"problem": problem}
    report = _final(state, worker, attempt, problem, ended_s=elapsed_s(config))
    await emit("report", task=task.id, worker=worker.name, report=report.model_dump(mode="json"))
    meeting.publish(task.id, report)
    return {"results": {task.id: report}, "ledger": _expenses(state, worker)}


def after_assess(state: WorkerState) -> str:
    """A task without a report is tried again."""
    return "__end__" if state["task"].id in state.get("results", {}) else "refine"


def problem_of(attempt: Attempt) -> str:
    """Say what is wrong with an attempt; empty when its report can stand.

    An escalation is no fault: the worker says what it lacks.
    """
    report = attempt.report
    if report is None:
        return attempt.error or "no report"
    if report.status in ("failed", "skipped"):
        return report.output or "the worker reported failure without saying why"
    if report.status == "escalated" or report.escalation:
        return ""
    if not (report.output.strip() or report.claims or report.findings):
        return "the report is empty: no output, no claims, no findings"
    return ""


def _final(
    state: WorkerState, worker: Worker, attempt: Attempt, problem: str, *, ended_s: float
) -> Report:
    kept = attempt.report or Report(status="failed", confidence=0)
    status = kept.status
    if problem:
        status = "failed"
    elif kept.escalation:
        status = "escalated"
    return kept.model_copy(
        update={
            "task": state["task"].id,
            "worker": worker.name,
            "status": status,
            "confidence": 0 if problem else kept.confidence,
            "error": problem or None,
            "attempts": len(state["attempts"]),
            "usage": sum((try_.usage for try_ in state["attempts"].values()), Usage()),
            "started_s": state.get("started_s", ended_s),
            "ended_s": ended_s,
        }
    )


def _expenses(state: WorkerState, worker: Worker) -> dict[str, Expense]:
    return {
        f"{state['task'].id}#{number}": Expense(
            worker=worker.name, tier=attempt.tier, usage=attempt.usage
        )
        for number, attempt in state["attempts"].items()
    }
