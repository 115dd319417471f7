"""The node that checks an attempt by rule: report it, or choose what the next one changes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.errors import UsageError
from nodes.execution.dispatch import Dispatch
from nodes.limits.deadline import get_elapsed_s, is_deadline_past, should_degrade
from nodes.limits.recorder import pass_point
from nodes.limits.run_scope import get_run_scope
from nodes.limits.stop_requests import STOPPED
from nodes.models.catalog import EMBEDDED, ModelCatalog
from nodes.prompts.templates import ASSUME
from nodes.proof import find_quotation_places
from nodes.recovery.ladder import choose_action, get_escalation_reason
from nodes.recovery.reassignment import list_candidates
from nodes.schemas.team import SPECIALIST, Team
from nodes.security.taint import merge_labels
from nodes.telemetry.cost import build_expenses
from nodes.telemetry.events import emit
from nodes.text.phrases import detect_language, say
from state import (
    Attempt,
    Context,
    Escalation,
    Expense,
    Origin,
    RecoveryAction,
    Report,
    Tier,
    Usage,
    WorkerOutput,
    WorkerState,
)

SaveOutput = Callable[[WorkerOutput], Awaitable[None]]
"""Saves what a worker's node returns; done when it is saved."""
MAX_QUOTED_CHARS = 300
"""Of a task, in a gap."""
TIERS: tuple[Tier, ...] = ("fast", "standard", "strong")
MIN_REPEATED_CHARS = 40
"""A shorter output may be an answer that its task names, such as one of two cities."""


async def assess(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    dispatch: Dispatch,
    save: SaveOutput | None = None,
) -> WorkerState:
    """Publish the task's report, unless another attempt may fix it.

    Args:
        save: awaited with the node's output before others can see the report.
    """
    task, attempts = state["task"], _order_attempts(state)
    last, team = attempts[-1], team.apply_context(runtime.context)
    problem = describe_problem(last)
    reason = get_escalation_reason(last.report, team.min_confidence)
    if reason and last.report and last.report.escalation:
        message = last.report.escalation.message
        await emit("escalated", task=task.id, worker=last.worker, reason=reason, message=message)
    dispatch.record_attempts(task.id, len(attempts))
    may_retry = dispatch.count_steps_left() > 0 and not is_deadline_past(config)
    if (problem or reason) and may_retry and last.error != STOPPED:
        change = await _choose_action(state, config, runtime, team=team, models=models)
        if change is not None:
            begun = await _begin_recovery(state, change, problem or _describe_escalation(last))
            return {**begun, "assessed_s": get_elapsed_s(config)}
    report = _build_final_report(
        state, problem, ended_s=get_elapsed_s(config), min_confidence=team.min_confidence
    )
    report = _add_handed_over(report, state, team)
    output: WorkerOutput = {"results": {task.id: report}, "ledger": _collect_expenses(state)}
    if save is not None:
        await save(output)
    dumped = report.model_dump(mode="json")
    texts = get_run_scope(config).materials.get(dispatch.graph_ns, {})
    places = find_quotation_places(report.claims, texts)
    await emit("report", task=task.id, worker=report.worker, report=dumped, quotations=places)
    await pass_point(f"end {task.id}")
    dispatch.publish_report(task.id, report)
    return {"results": output["results"], "ledger": output["ledger"]}


def after_assess(
    state: WorkerState,
) -> Literal["act", "refine", "ask_human", "recruit", "__end__"]:
    """A task without a report is tried again, by the rung that was chosen."""
    if state["task"].id in state.get("results", {}):
        return "__end__"
    change = state["change"]
    match change.rung:
        case "refine":
            return "refine"
        case "human":
            return "ask_human"
        case _ if change.worker == SPECIALIST and "recruit" not in state:
            return "recruit"
        case _:
            return "act"


def _read_failure(report: Report) -> str:
    """Return why a worker failed; of one that had nothing to do without the rows that it shows."""
    if report.status == "failed":
        return report.output
    return report.output.partition("\n\n")[0].rstrip(":")


def describe_problem(attempt: Attempt) -> str:
    """Return what is wrong with an attempt; empty when its report is accepted.

    An escalation is no fault: the worker says what it lacks.
    """
    report = attempt.report
    if report is None:
        return attempt.error or "no report"
    if report.status in ("failed", "skipped"):
        return _read_failure(report) or "the worker reported failure without saying why"
    if report.escalation:
        return ""
    if report.status == "escalated":
        return report.output or "the worker escalated without saying why"
    if not (report.output.strip() or report.claims or report.findings):
        return "the report is empty: no output, no claims, no findings"
    if not (report.claims or report.findings) and repeats_task(report.output, attempt.description):
        return "the report repeats the task and answers nothing"
    return ""


def repeats_task(output: str, description: str) -> bool:
    """Return whether an output is the description of its task, or the first half of it and more."""
    said, asked = (" ".join(text.split()) for text in (output, description))
    return len(said) >= max(MIN_REPEATED_CHARS, len(asked) // 2) and asked.startswith(said)


async def _choose_action(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
) -> RecoveryAction | None:
    attempts = _order_attempts(state)
    last = attempts[-1]
    asked = last.report.escalation if last.report else None
    at, stronger = TIERS.index(last.tier), None
    if last.fault == "model":
        failed = [attempt.tier for attempt in attempts if attempt.fault == "model"]
        nearest = (*TIERS[at + 1 :], *reversed(TIERS[:at]))
        stronger = await _find_other_tier(nearest, failed, models, runtime.context)
    elif not should_degrade(config) and team.find_worker(last.worker).remote is None:
        above = TIERS[at + 1 :]
        stronger = await _find_other_tier(above, [last.tier], models, runtime.context)
    may_ask = runtime.context.ask_human and "human" not in team.ladder
    return choose_action(
        attempts,
        ladder=(*team.ladder, "human") if may_ask else team.ladder,
        max_attempts=state["max_attempts"],
        stronger=stronger,
        may_split=team.max_recursion > 0,
        min_confidence=team.min_confidence,
        is_rule_based=models.identify(last.tier, runtime.context)[1] == EMBEDDED,
        others=list_candidates(
            state["task"],
            team.find_worker(last.worker),
            team,
            reason=get_escalation_reason(last.report),
            message=asked.message if asked else "",
        ),
    )


async def _begin_recovery(state: WorkerState, change: RecoveryAction, problem: str) -> WorkerState:
    last, task = _order_attempts(state)[-1], state["task"].id
    if change.rung == "split":
        await emit("split", task=task, worker=change.worker, reason=problem)
    if change.rung == "reassign":
        names = {"from": last.worker, "to": change.worker}
        await emit("reassigned", task=task, worker=change.worker, reason=problem, **names)
    if change.rung == "assume":
        problem = f"{problem}\n{ASSUME}"
    if not _has_content_problem(last):
        problem = ""
    return {"problem": problem, "change": change}


def _has_content_problem(attempt: Attempt) -> bool:
    """Return whether the next attempt's model is told what was wrong with this one.

    Not what a server did, nor that time or tokens ran out: a model takes that for content.
    """
    if attempt.fault == "form":
        is_coded = (attempt.error or "").partition(":")[0].isupper()
        return attempt.report is None and not is_coded
    return attempt.fault not in ("model", "worker")


async def _find_other_tier(
    tiers: Sequence[Tier], used: Sequence[Tier], models: ModelCatalog, context: Context
) -> Tier | None:
    """Return the first tier with a language model that is not used yet; None without one."""
    known = {models.identify(tier, context) for tier in used}
    for tier in tiers:
        model = models.identify(tier, context)
        if model in known or model[1] == EMBEDDED:
            continue
        try:
            # A provider's library is imported with its first model.
            await asyncio.to_thread(models.get_chat_model, tier, context)
        except UsageError:
            continue
        return tier
    return None


def _describe_escalation(attempt: Attempt) -> str:
    report = attempt.report
    assert report is not None, "only a report can escalate"
    asked = report.escalation
    if asked is None:
        return f"{attempt.worker} was not sure of its result ({report.confidence} of 100)."
    found = f"\nFound so far: {asked.partial}" if asked.partial else ""
    return f"{attempt.worker} could not do it ({asked.reason}): {asked.message}{found}"


def _build_final_report(
    state: WorkerState, problem: str, *, ended_s: float, min_confidence: int
) -> Report:
    """Return the last report, or a better one of an earlier attempt that was not sure."""
    attempts = _order_attempts(state)
    last = attempts[-1]
    rated = [(attempt.report, attempt) for attempt in attempts if attempt.report]
    doubtful = [(r.confidence or 0, each) for r, each in rated if r.is_doubtful(min_confidence)]
    is_sure = not problem and get_escalation_reason(last.report, min_confidence) is None
    if doubtful and not is_sure and problem != STOPPED:
        last, problem = max(doubtful, key=lambda pair: pair[0])[1], ""
    elif not problem:
        last = _choose_final_attempt(attempts)
    before = attempts[: attempts.index(last) + 1]
    reports = [attempt.report for attempt in before if attempt.report]
    kept = reports[-1] if reports else Report(status="failed", confidence=0)
    status, escalation = kept.status, kept.escalation
    if problem:
        is_idle = status == "skipped" and last.usage.models == (EMBEDDED,)
        status = "skipped" if is_idle else "failed"
        escalation = _find_last_escalation(attempts)
    elif escalation:
        status = "escalated"
    return kept.model_copy(
        update={
            "task": state["task"].id,
            "worker": last.worker,
            "status": status,
            "escalation": escalation,
            "confidence": 0 if problem else kept.confidence,
            "gaps": (*kept.gaps, *_list_doubts(state, kept, min_confidence)),
            "error": problem or None,
            "attempts": len(attempts),
            "taint_labels": merge_labels(*(attempt.taint_labels for attempt in attempts)),
            "usage": sum((attempt.usage for attempt in attempts), Usage()),
            "started_s": state.get("started_s", ended_s),
            "ended_s": ended_s,
        }
    )


def _add_handed_over(report: Report, state: WorkerState, team: Team) -> Report:
    """Return a report with what is not answered, if the task was handed to a human instead.

    A task that was given to whoever hands over lacks nothing: that is what it asked for.
    """
    task, first = state["task"], _order_attempts(state)[0]
    is_handed_over = report.status == "completed" and team.find_worker(report.worker).hands_over
    if not is_handed_over or report.worker == first.worker:
        return report
    asked = (task.asked or task.description)[:MAX_QUOTED_CHARS]
    reason = describe_problem(first) or _describe_escalation(first)
    gap = say(_find_language(state), "handed_over", asked=asked, reason=reason)
    failures, gaps = (*report.failures, gap), (gap, *report.gaps)
    return report.model_copy(update={"is_partial": True, "failures": failures, "gaps": gaps})


def _list_doubts(state: WorkerState, kept: Report, min_confidence: int) -> Iterator[str]:
    """Yield the gaps of a result that rests on an assumption, or that is not sure."""
    if kept.status != "completed":
        return
    if kept.is_doubtful(min_confidence):
        yield say(_find_language(state), "not_sure", confidence=kept.confidence)
    for asking, assumed in pairwise(_order_attempts(state)):
        asked = asking.report.escalation if asking.report else None
        is_kept = assumed.report is not None and assumed.report.output == kept.output
        if assumed.rung == "assume" and asked is not None and is_kept:
            yield say(_find_language(state), "assumed", message=asked.message)


def _find_language(state: WorkerState) -> str:
    return detect_language(state.get("origin", Origin()).user_text or state["task"].description)


def _choose_final_attempt(attempts: Sequence[Attempt]) -> Attempt:
    """Return the last attempt; if its worker escalated too, the first that was out of scope.

    The worker that was chosen knows best why the task cannot be done.
    """
    if get_escalation_reason(attempts[-1].report) is None:
        return attempts[-1]
    refused = (a for a in attempts if get_escalation_reason(a.report) == "out_of_scope")
    return next(refused, attempts[-1])


def _find_last_escalation(attempts: Sequence[Attempt]) -> Escalation | None:
    """Return the last escalation, with what its attempt found; None without one."""
    said = [attempt.report.escalation for attempt in attempts if attempt.report]
    return next((escalation for escalation in reversed(said) if escalation), None)


def _collect_expenses(state: WorkerState) -> dict[str, Expense]:
    task, attempts = state["task"].id, state["attempts"]
    entered = [build_expenses(task, int(number), each) for number, each in attempts.items()]
    return {name: spent for each in entered for name, spent in each.items()}


def _order_attempts(state: WorkerState) -> list[Attempt]:
    return [state["attempts"][str(number + 1)] for number in range(len(state["attempts"]))]
