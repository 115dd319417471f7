"""The step in which a worker works on its handoff, ending in a report."""

from dataclasses import asdict
from typing import Literal

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from nodes.attempt import Doers, Work
from nodes.capacity import capacity_of
from nodes.cascade import left_out
from nodes.deadline import is_past
from nodes.errand import Errand
from nodes.events import elapsed_s, emit
from nodes.keeping import is_saved
from nodes.models.catalog import Models
from nodes.rendezvous import Meeting, Seeds, join
from nodes.thrift import CHEAPEST, must_save
from state import Attempt, Context, Rung, Team, Tier, Worker, WorkerState


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
    attempt for which the run's caps leave nothing holds the task; near the caps, one that the
    others can do without is left out.
    """
    task, number = state["task"], len(state["attempts"]) + 1
    meeting = await join(runtime, config, allowance=state["allowance"], seeds=seeds)
    meeting.entered(task.id)
    meeting.count(task.id, number - 1)
    doer, tier, rung = _chosen(state, worker, team)
    if must_save(config):
        if number == 1 and state["is_dispensable"]:
            return await _left_out(state, config, meeting)
        tier = CHEAPEST
    if wall := _wall(meeting, task.id, config):
        return _stopped(state, meeting, wall, doer, tier)
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
        is_kept=is_saved(config),
        max_steps=max(1, meeting.left()),
    )
    attempt = await _made(work, number, rung, meeting, team, runtime)
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


async def _made(
    work: Work,
    number: int,
    rung: Rung | None,
    meeting: Meeting,
    team: Team,
    runtime: Runtime[Context],
) -> Attempt:
    task, name, capacity = work.state["task"].id, work.worker.name, capacity_of(team)
    await emit(
        "task_started",
        task=task,
        worker=name,
        attempt=number,
        tier=work.tier,
        rung=rung or "",
        load=asdict(capacity.load(name)),
    )
    try:
        with capacity.working(name, runtime.store):
            return await work.attempt()
    except GraphBubbleUp:  # a person is asked inside; who waits for this task goes on without
        meeting.hold(task)
        raise


def _chosen(state: WorkerState, worker: Worker, team: Team) -> tuple[Worker, Tier, Rung | None]:
    """Give who makes the attempt, by which tier, and the rung that led to it."""
    change = state.get("change")
    if change is None:
        return worker, worker.tier, None
    return team.worker(change.worker), change.tier, change.rung


async def _left_out(state: WorkerState, config: RunnableConfig, meeting: Meeting) -> WorkerState:
    """Report a task as skipped that the others can do without."""
    task = state["task"]
    reason = "the run nears its caps, and the tasks that want this one can do without"
    await emit("task_skipped", task=task.id, worker=task.worker, reason=reason)
    report = left_out(task, reason, at_s=elapsed_s(config))
    meeting.publish(task.id, report)
    return {"results": {task.id: report}}


def _wall(meeting: Meeting, task: str, config: RunnableConfig) -> str:
    """Say which cap forbids another attempt; empty when the attempt is counted and may begin."""
    if is_past(config):
        return "the run's deadline is reached"
    return "" if meeting.spend(task) else "the run's step cap is reached"


def _stopped(
    state: WorkerState, meeting: Meeting, wall: str, worker: Worker, tier: Tier
) -> WorkerState:
    """Hold a task that never began; one that did ends with the cap as its last error."""
    number = len(state["attempts"]) + 1
    if number == 1:
        meeting.hold(state["task"].id)
        return {"held": True}
    spent = Attempt(
        description=state["description"],
        error=wall,
        fault="permanent",
        worker=worker.name,
        tier=tier,
    )
    return {"attempts": {str(number): spent}}
