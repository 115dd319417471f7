"""The step in which a worker works: its own loop over its handoff, ending in a report."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from nodes.deadline import is_past, remaining_s
from nodes.errand import Errand, TurnsSpent
from nodes.errors import SupervisorError
from nodes.events import elapsed_s, emit
from nodes.models.ask import Unreadable, read_content
from nodes.models.catalog import Models
from nodes.prompts import MAX_OUTPUT_CHARS, handoff_message, shortened
from nodes.rendezvous import Meeting, Seeds, join
from state import Attempt, Constraints, Context, Handoff, Report, Team, Tier, Worker, WorkerState

Loop = Callable[[str], Awaitable[CompiledStateGraph[Any, Errand, Any, Any]]]
"""Gives the compiled loop of the worker of a name, built when first asked for."""


async def act(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    worker: Worker,
    team: Team,
    models: Models,
    loop: Loop,
    seeds: Seeds,
) -> WorkerState:
    """Make one attempt at the task. Whatever goes wrong is written into the attempt.

    A task that was reassigned is done by the other worker's own loop, with its own tools. A first
    attempt for which the run's caps leave nothing holds the task.
    """
    task, number = state["task"], len(state["attempts"]) + 1
    meeting = await join(runtime, config, allowance=state["allowance"], seeds=seeds)
    meeting.entered(task.id)
    meeting.count(task.id, number - 1)
    change = state.get("change")
    doer = team.worker(change.worker) if change else worker
    tier, rung = (change.tier, change.rung) if change else (worker.tier, None)
    if wall := _wall(meeting, task.id, config):
        if number == 1:
            meeting.hold(task.id)
            return {"held": True}
        spent = Attempt(
            description=state["description"],
            error=wall,
            fault="permanent",
            worker=doer.name,
            tier=tier,
        )
        return {"attempts": {str(number): spent}}
    await emit(
        "task_started", task=task.id, worker=doer.name, attempt=number, tier=tier, rung=rung or ""
    )
    started_s, began = elapsed_s(config), monotonic()
    errand = Errand(model=models.chat(tier, runtime.context), limits=doer.limits)
    is_kept = runtime.execution_info is not None and bool(runtime.execution_info.thread_id)
    attempt = await _attempt(
        state, config, worker=doer, tier=tier, errand=errand, loop=loop, is_kept=is_kept
    )
    who = {"worker": doer.name, "tier": tier, "rung": rung}
    cost = {"usage": errand.usage, "seconds": monotonic() - began}
    return {
        "attempts": {str(number): attempt.model_copy(update=who | cost)},
        "started_s": state.get("started_s", started_s),
        "steps": {task.id: number},
    }


def after_act(state: WorkerState) -> str:
    """A task that could not even begin ends here."""
    return "__end__" if state.get("held") else "assess"


def _wall(meeting: Meeting, task: str, config: RunnableConfig) -> str:
    """Say which cap forbids another attempt; empty when the attempt is counted and may begin."""
    if is_past(config):
        return "the run's deadline is reached"
    return "" if meeting.spend(task) else "the run's step cap is reached"


async def _attempt(
    state: WorkerState,
    config: RunnableConfig,
    *,
    worker: Worker,
    tier: Tier,
    errand: Errand,
    loop: Loop,
    is_kept: bool,
) -> Attempt:
    description = state["description"]
    left_s = remaining_s(config)
    timeout_s = worker.limits.timeout_s if left_s is None else min(worker.limits.timeout_s, left_s)
    try:
        async with asyncio.timeout(timeout_s):
            handoff = _handoff(state, worker, tier)
            report = await _work(state, handoff, errand=errand, loop=loop, is_kept=is_kept)
        return Attempt(description=description, report=report)
    except TimeoutError:
        whose = "its limit" if timeout_s == worker.limits.timeout_s else "the run's deadline"
        error, fault = f"timed out after {timeout_s:.3g} s, {whose}", "content"
    except (TurnsSpent, Unreadable) as problem:
        error, fault = str(problem), "content"
    except SupervisorError as problem:
        # What may pass by itself has been tried again where the model is called, and only there.
        error, fault = f"{problem.code}: {problem}", "permanent"
    except GraphBubbleUp:
        raise
    except Exception as problem:  # raised here it would cancel the task's siblings
        error, fault = f"{type(problem).__name__}: {problem}", "content"
    return Attempt.model_validate(
        {"description": description, "error": shortened(error, 2000), "fault": fault}
    )


async def _work(
    state: WorkerState, handoff: Handoff, *, errand: Errand, loop: Loop, is_kept: bool
) -> Report:
    message = handoff_message(
        handoff, earlier=state.get("problem", ""), answers=state.get("answers", {})
    )
    result = await (await loop(handoff.to)).ainvoke(
        {"messages": [message], "materials": state.get("materials", {})},
        {"metadata": {"task": state["task"].id, "worker": handoff.to}},
        context=errand,
        # The attempt is what a resume goes back to: its turns need no checkpoint each.
        durability="exit" if is_kept else None,
    )
    said = result.get("structured_response")
    if said is None:
        said = read_content(_last_words(result["messages"]), Report)
    fields = said if isinstance(said, dict) else said.model_dump()
    report = Report.model_validate(fields)
    return report.model_copy(update={"output": shortened(report.output, MAX_OUTPUT_CHARS)})


def _handoff(state: WorkerState, worker: Worker, tier: Tier) -> Handoff:
    task, limits = state["task"], worker.limits
    return Handoff(
        task=task.id,
        to=worker.name,
        intent=state["description"],
        context=tuple(state["inputs"][edge.task] for edge in task.depends_on),
        artifacts=state.get("materials", {}),
        constraints=Constraints(
            max_tokens=limits.max_tokens, timeout_s=limits.timeout_s, tier=tier
        ),
    )


def _last_words(messages: list[Any]) -> str:
    spoken = [message for message in messages if isinstance(message, AIMessage)]
    return str(spoken[-1].text) if spoken else ""
