"""The step in which a worker works on its handoff, ending in a report."""

from typing import Literal

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from nodes.attempt import Doers, Work
from nodes.deadline import is_past
from nodes.errand import Errand
from nodes.events import elapsed_s, emit
from nodes.models.catalog import Models
from nodes.rendezvous import Meeting, Seeds, join
from nodes.thrift import CHEAPEST, must_save
from state import Attempt, Context, Report, Team, Worker, WorkerState


async def act(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    worker: Worker,
    team: Team,
    models: Models,
    doers: Doers,
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
    if must_save(config):
        if number == 1 and state["is_dispensable"]:
            return await _left_out(state, config, meeting)
        tier = CHEAPEST
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
    started_s = elapsed_s(config)
    work = Work(
        state=state,
        config=config,
        context=runtime.context,
        worker=doer,
        tier=tier,
        doers=doers,
        errand=Errand(model=models.chat(tier, runtime.context), limits=doer.limits),
        divides=rung == "split" or task.is_compound,
        is_kept=runtime.execution_info is not None and bool(runtime.execution_info.thread_id),
        max_steps=max(1, meeting.left()),
    )
    try:
        attempt = await work.attempt()
    except GraphBubbleUp:  # a person is asked inside; who waits for this task goes on without
        meeting.hold(task.id)
        raise
    inner = f"{task.id}/{number}"
    meeting.count(inner, work.inner_steps)
    return {
        "attempts": {str(number): attempt.model_copy(update={"rung": rung})},
        "started_s": state.get("started_s", started_s),
        "steps": {task.id: number, **({inner: work.inner_steps} if work.inner_steps else {})},
    }


def after_act(state: WorkerState) -> Literal["assess", "__end__"]:
    """A task that could not even begin, or was left out, ends here."""
    is_over = state.get("held") or state["task"].id in state.get("results", {})
    return "__end__" if is_over else "assess"


async def _left_out(state: WorkerState, config: RunnableConfig, meeting: Meeting) -> WorkerState:
    """Report a task as skipped that the others can do without."""
    task, now_s = state["task"], elapsed_s(config)
    reason = "the run nears its caps, and the tasks that want this one can do without"
    await emit("task_skipped", task=task.id, worker=task.worker, reason=reason)
    report = Report(
        task=task.id,
        worker=task.worker,
        status="skipped",
        confidence=0,
        error=reason,
        attempts=0,
        started_s=now_s,
        ended_s=now_s,
    )
    meeting.publish(task.id, report)
    return {"results": {task.id: report}}


def _wall(meeting: Meeting, task: str, config: RunnableConfig) -> str:
    """Say which cap forbids another attempt; empty when the attempt is counted and may begin."""
    if is_past(config):
        return "the run's deadline is reached"
    return "" if meeting.spend(task) else "the run's step cap is reached"
