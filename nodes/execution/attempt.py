"""One attempt at a task, by whoever does it; errors are recorded, not raised."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Final, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp

from nodes.errors import (
    BadResponse,
    BudgetSpent,
    DeadlinePassed,
    ModelError,
    ModelUnknown,
    PlanInvalid,
    RemoteError,
    ResponseCut,
    StoreError,
    SupervisorError,
    ThreadBusy,
)
from nodes.errors.redaction import redact_text
from nodes.execution.attempt_context import TurnLimitReached
from nodes.execution.doer import Doer, Work
from nodes.execution.outside_worker import OutsideDoer, OutsideWorker
from nodes.execution.subteam import TeamDoer, TeamGraph
from nodes.execution.worker_agent import AgentDoer, WorkerAgent
from nodes.limits.deadline import get_remaining_s, name_deadline_option
from nodes.limits.recorder import read_outside
from nodes.limits.run_scope import enforce_stop, get_run_scope
from nodes.limits.stop_requests import STOPPED, TaskStopped
from nodes.models.run_context import CallDeadline
from nodes.models.structured_output import UnreadableReply
from nodes.prompts.messages import MAX_OUTPUT_CHARS
from nodes.prompts.tags import shorten_text
from nodes.schemas.team import SPECIALIST
from nodes.telemetry.events import build_task_path
from nodes.telemetry.tracing import WORK, TracedStep, name_agent, trace_step
from state import Attempt, Escalation, Fault, Recruit, Report, Usage

CLOCK_TOLERANCE_S = 0.05
"""A run this close to its deadline has reached it: clocks differ by less."""
MAX_ERROR_CHARS: Final = 2_000
NO_WAITS: Final = Usage().model_dump()
MAX_PARTIAL_CHARS: Final = 2_000
"""Limit for what is kept of an attempt whose time ended."""


class WorkerAgents(Protocol):
    """Provides the agents and graphs for a team's tasks, each built on first use."""

    async def get_agent(self, name: str) -> WorkerAgent:
        """Return the agent of the worker with this name."""

    async def get_specialist(self, recruit: Recruit) -> WorkerAgent:
        """Return the agent of a specialist."""

    async def get_team_graph(self, name: str) -> TeamGraph:
        """Return the graph of the worker with this name, which is a team."""

    async def get_remote(self, name: str) -> OutsideWorker:
        """Return the worker with this name, which is on another server."""

    async def get_division_graph(self) -> TeamGraph:
        """Return the graph that divides a task of this team into a plan of its own."""


def choose_doer(work: Work, agents: WorkerAgents, *, is_divided: bool) -> Doer:
    """Return who does a task; one that is divided gets a plan of its own."""
    worker, name = work.worker, work.worker.name
    if is_divided:
        return TeamDoer(work=work, get_graph=agents.get_division_graph, is_division=True)
    if worker.team:
        return TeamDoer(work=work, get_graph=partial(agents.get_team_graph, name))
    if worker.remote:
        return OutsideDoer(work=work, get_worker=partial(agents.get_remote, name))
    if name == SPECIALIST and "recruit" in work.state:
        recruit = work.state["recruit"]
        return AgentDoer(work=work, get_agent=partial(agents.get_specialist, recruit))
    return AgentDoer(work=work, get_agent=partial(agents.get_agent, name))


async def make_attempt(doer: Doer, config: RunnableConfig) -> Attempt:
    """Return an attempt at a task, with its report or its error."""
    async with _trace_attempt(doer.work, config) as step:
        attempt = await _do_until_stopped(doer, step.config)
        _record_outcome(step, attempt)
    path = build_task_path(step.config, doer.work.task.id)
    waits = read_outside(
        "waits", lambda: get_run_scope(step.config).waits.take(path).model_dump(), usual=NO_WAITS
    )
    labels, report = doer.taint_labels, attempt.report
    spent = doer.usage if attempt.usage == Usage() else attempt.usage
    if report:
        report = await doer.complete(report)
        taint = {"taint_labels": labels, "addresses": doer.addresses}
        report = report.model_copy(update=taint)
    return attempt.model_copy(
        update={
            "report": report,
            "taint_labels": labels,
            "worker": doer.work.worker.name,
            "tier": doer.work.tier,
            "usage": spent + Usage(**waits),
            "ledger": doer.ledger,
        }
    )


def _trace_attempt(work: Work, config: RunnableConfig) -> AbstractAsyncContextManager[TracedStep]:
    state, name, task = work.state, work.worker.name, work.task.id
    change = state.get("change")
    return trace_step(
        f"{WORK}: {task} ({name})",
        {"description": state["description"], "materials": list(work.materials)},
        {
            **name_agent(config.get("metadata", {}), name, task),
            "task": task,
            "worker": name,
            "attempt": work.number,
            "rung": change.rung if change else "",
            "tier": work.tier,
            "plan_version": state.get("plan_version", 1),
            "purpose": WORK,
        },
    )


def _record_outcome(step: TracedStep, attempt: Attempt) -> None:
    report = attempt.report
    step.error = attempt.error or ""
    if report and report.status == "failed":
        step.error = step.error or report.output or "the worker reported failure"
    step.outputs = report.model_dump(mode="json", exclude_defaults=True) if report else {}


async def _do_until_stopped(doer: Doer, config: RunnableConfig) -> Attempt:
    try:
        async with (
            enforce_stop(config, doer.work.task.id),
            doer.hold_slot(get_remaining_s(config)),
        ):
            return await _do_in_time(doer, config)
    except TaskStopped:
        description = doer.work.state["description"]
        return Attempt(description=description, error=STOPPED, fault="permanent")


async def _do_in_time(doer: Doer, config: RunnableConfig) -> Attempt:
    description, limit_s = doer.work.state["description"], doer.work.worker.limits.timeout_s
    left_s = get_remaining_s(config)
    timeout_s = limit_s if left_s is None else min(limit_s, left_s)
    report, is_late = Report(), False
    try:
        async with CallDeadline(limit_s, left_s).enforce_on_attempt():
            report = await doer.do(config, timeout_s)
    except (GraphBubbleUp, StoreError, ThreadBusy):
        raise
    except TimeoutError:
        is_late = True
    except Exception as problem:  # raised here, it would cancel the task's siblings
        if isinstance(problem, TurnLimitReached | UnreadableReply) and doer.early_report:
            return Attempt(description=description, report=doer.early_report)
        error, fault = _describe_problem(problem), classify_fault(problem)
        return Attempt(description=description, error=error, fault=fault)
    if read_outside("is late", lambda: is_late, config, usual=False):
        return _end_late(doer, timeout_s, config)
    output = shorten_text(report.output, MAX_OUTPUT_CHARS)
    report = report.model_copy(update={"output": output})
    return Attempt(description=description, report=report)


def _end_late(doer: Doer, timeout_s: float, config: RunnableConfig) -> Attempt:
    """Return an attempt whose time has ended, with what it has come to."""

    def measure() -> dict[str, Any]:
        early = doer.early_report
        return {
            "early": early and early.model_dump(mode="json"),
            "found": list(doer.list_found()),
            "tools": list(doer.list_open_tools()),
            "usage": doer.usage.model_dump(mode="json"),
        }

    description, late = doer.work.state["description"], read_outside("late end", measure, config)
    usage = Usage.model_validate(late["usage"])
    if late["early"]:
        early = Report.model_validate(late["early"])
        return Attempt(description=description, report=early, usage=usage)
    error = f"timed out after {timeout_s:.3g} s, {_name_limit(config)}"
    if tools := ", ".join(late.get("tools", ())):
        error += f", in {tools}"
    report, fault = _build_timeout_report(error, late["found"]), doer.timeout_fault
    return Attempt(description=description, report=report, error=error, fault=fault, usage=usage)


def _name_limit(config: RunnableConfig) -> str:
    """Return whose limit has ended an attempt."""
    left_s = get_remaining_s(config)
    if left_s is None or left_s > CLOCK_TOLERANCE_S:
        return "its limit"
    return f"the run's deadline (on the command line: {name_deadline_option(config)})"


def _describe_problem(problem: Exception) -> str:
    match problem:
        case TurnLimitReached() | UnreadableReply():
            error = str(problem)
        case RemoteError():
            error = f"{problem.code}: {problem.describe()}"
        case SupervisorError():
            error = f"{problem.code}: {problem}"
        case _:
            error = f"{type(problem).__name__}: {problem}"
    return shorten_text(redact_text(error), MAX_ERROR_CHARS)


def classify_fault(problem: Exception) -> Fault:
    """Return what an error concerns: the reply or its form, the model, the worker, or all of it.

    Temporary errors were already retried where the model is called, and only there.
    """
    is_cut = isinstance(problem, ResponseCut) and problem.is_at_limit
    if is_cut or (isinstance(problem, BadResponse) and problem.reply_text):
        return "form"  # the model wrote it: the task's words are not at fault
    match problem:
        case UnreadableReply():
            return "form"
        case RemoteError():
            return "content" if problem.may_reword else "worker"
        case BudgetSpent() | DeadlinePassed():
            return "permanent"
        case ModelError() | ModelUnknown():
            return "model"
        case SupervisorError() if not isinstance(problem, PlanInvalid):
            return "permanent"
        case _:
            return "content"


def _build_timeout_report(error: str, found: Sequence[str]) -> Report:
    """Return a failed report that keeps the beginning of what was found."""
    partial = shorten_text("\n".join(found), MAX_PARTIAL_CHARS)
    escalation = Escalation(reason="timeout", message=error, partial=partial)
    return Report(status="failed", output=error, escalation=escalation, confidence=0)
