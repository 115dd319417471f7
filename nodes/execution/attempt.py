"""One attempt at a task, by a worker's agent or by a team; errors are recorded, not raised."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp

from nodes.errors import (
    RemoteError,
    StoreError,
    SupervisorError,
    ThreadBusy,
)
from nodes.errors.redaction import redact_text
from nodes.execution.attempt_context import AttemptContext, MaterialReading, TurnLimitReached
from nodes.execution.fault import build_timeout_report, classify_fault
from nodes.execution.outside_worker import OutsideTask
from nodes.execution.proving import mark_returned
from nodes.execution.subteam import SubteamRun
from nodes.execution.worker_agent import WorkerAgent
from nodes.execution.worker_agents import WorkerAgents
from nodes.limits.deadline import get_remaining_s, name_deadline_option
from nodes.limits.run_scope import get_run_scope
from nodes.limits.stop_requests import STOPPED, TaskStopped
from nodes.limits.stopped_tasks import enforce_stop
from nodes.models.endpoint_limits import hold_for_task
from nodes.models.reply_stream import offer_reply
from nodes.models.run_context import CallDeadline
from nodes.models.settings import EMBEDDED
from nodes.models.structured_output import UnreadableReply
from nodes.planning.skipping import list_shortfalls
from nodes.planning.speculation import get_speculative_calls
from nodes.prompts.materials import show_materials
from nodes.prompts.messages import MAX_OUTPUT_CHARS, build_handoff_message
from nodes.prompts.tags import shorten_text
from nodes.schemas.beside import WorkValues, lay_beside
from nodes.schemas.handoff import Constraints, Handoff
from nodes.schemas.team import SPECIALIST, Worker
from nodes.security.provenance import (
    build_subteam_origin,
    build_taint,
    describe_private_source,
    exclude_worker,
)
from nodes.security.taint import MAX_ADDRESSES, merge_labels
from nodes.telemetry.events import build_task_path
from nodes.telemetry.run_names import WORK, name_agent, name_attempt
from nodes.telemetry.traced_step import TracedStep, trace_step
from nodes.tools.framework.documents import is_cut
from state import (
    Attempt,
    Context,
    Fault,
    Origin,
    Report,
    TaintLabel,
    Tier,
    WorkerState,
)

LONG_MATERIALS_CHARS = 20_000
"""From here on a handoff is built in a thread: it takes long enough to delay other tasks."""
CLOCK_TOLERANCE_S = 0.05
"""A run this close to its deadline has reached it: clocks differ by less."""


@dataclass(kw_only=True)
class AttemptRunner:
    """Runs one attempt at a task."""

    state: WorkerState
    config: RunnableConfig
    context: Context
    worker: Worker
    tier: Tier
    agents: WorkerAgents
    attempt_context: AttemptContext
    is_divided: bool
    """The task is divided into a plan instead of done by one worker."""
    is_checkpointed: bool
    """A checkpointer keeps the run."""
    max_steps: int
    """Attempts that the run's step cap leaves for a team."""
    subteam_run: SubteamRun | None = None

    async def run(self) -> Attempt:
        """Return the attempt, with its report or its error."""
        self.attempt_context.taint = build_taint(self.state)
        async with self._trace_attempt() as step:
            self.config = step.config
            attempt = await self._run_until_stopped()
            _record_outcome(step, attempt)
        inner = self.subteam_run
        labels, addresses = self._collect_taint()
        waits = get_run_scope(self.config).waits.take(
            build_task_path(self.config, self.state["task"].id)
        )
        report = attempt.report
        if report:
            report = await self._prove(report)
            update = {"taint_labels": labels, "addresses": addresses, **self._find_failures(report)}
            update |= {"lacks_file": self._lacks_file(), "is_unread": self._is_unread(report)}
            report = report.model_copy(update=update)
        return attempt.model_copy(
            update={
                "report": report,
                "taint_labels": labels,
                "worker": self.worker.name,
                "tier": self.tier,
                "usage": (inner.usage if inner else self.attempt_context.usage) + waits,
                "ledger": inner.ledger if inner else {},
            }
        )

    async def _prove(self, report: Report) -> Report:
        """Return a report with the proof of its claims; an inner team's are proved in it."""
        if self.subteam_run:
            return report
        if self.worker.remote:
            return report.model_copy(update={"claims": mark_returned(report.claims)})
        return await self.attempt_context.proof.prove(report)

    def _trace_attempt(self) -> AbstractAsyncContextManager[TracedStep]:
        state, name, change = self.state, self.worker.name, self.state.get("change")
        task = state["task"]
        return trace_step(
            name_attempt(task.id, name),
            {"description": state["description"], "materials": list(state.get("materials", {}))},
            {
                **name_agent(self.config.get("metadata", {}), name, task.id),
                "task": task.id,
                "worker": name,
                "attempt": len(state["attempts"]) + 1,
                "rung": change.rung if change else "",
                "tier": self.tier,
                "plan_version": state.get("plan_version", 1),
                "purpose": WORK,
            },
        )

    @property
    def inner_steps(self) -> int:
        """The number of attempts that a team made within this one."""
        return self.subteam_run.steps if self.subteam_run else 0

    def _collect_taint(self) -> tuple[tuple[TaintLabel, ...], tuple[str, ...]]:
        """Return the labels of everything read in the attempt, and the addresses found."""
        taint, inner = self.attempt_context.taint, self.subteam_run
        if inner is None:
            return merge_labels(taint.taint_labels), taint.list_addresses()
        addresses = dict.fromkeys([*taint.found_addresses, *inner.addresses])
        return merge_labels(taint.taint_labels, inner.taint_labels), tuple(addresses)[
            -MAX_ADDRESSES:
        ]

    def _lacks_file(self) -> bool:
        """Return whether there was nothing to read, for the worker or for a task of the team."""
        inner = self.subteam_run
        return inner.lacks_file if inner else self.attempt_context.outcomes.lacks_file

    @property
    def _is_rule_based(self) -> bool:
        """Whether the built-in model does the task; what it says of itself is so."""
        return getattr(self.attempt_context.model, "model", "") == EMBEDDED

    def _is_unread(self, report: Report) -> bool:
        """Return whether a report quotes what no model has read, as the built-in one says."""
        is_inner = bool(self.subteam_run or self.worker.remote)
        return report.is_unread and (is_inner or self._is_rule_based)

    def _find_failures(self, report: Report) -> dict[str, Any]:
        """Return a report's fields on failed tools; a team has set its own."""
        if self.subteam_run or self.worker.remote:
            return {"failures": ()}
        outcomes, materials = self.attempt_context.outcomes, self.state.get("materials", {})
        cut = [name for name, text in materials.items() if is_cut(text)]
        unreviewed, unread = self.attempt_context.reading.list_gaps(outcomes)
        failures = (
            *unreviewed,
            *(f"{name} was cut when it was read: its end is not covered" for name in cut),
            *self.attempt_context.left_out[-1:],
            *outcomes.list_failures(),
            *(report.failures if self._is_rule_based else ()),
        )
        if report.status != "completed" or report.escalation:
            return {"failures": (), "is_partial": False}
        gaps = dict.fromkeys((*failures, *outcomes.list_refusals(), *unread, *report.gaps))
        return {"failures": failures, "is_partial": bool(failures), "gaps": tuple(gaps)}

    async def _run_until_stopped(self) -> Attempt:
        try:
            async with enforce_stop(self.config, self.state["task"].id), self._hold_slot():
                return await self._run_attempt()
        except TaskStopped:
            description = self.state["description"]
            return Attempt(description=description, error=STOPPED, fault="permanent")

    def _hold_slot(self) -> AbstractAsyncContextManager[object]:
        """Wait until a slow server is free for this task; a team's tasks wait by themselves."""
        is_elsewhere = self.is_divided or self.worker.team or self.worker.remote
        left_s = get_remaining_s(self.config)
        model = self.attempt_context.model
        return nullcontext() if is_elsewhere else hold_for_task(model, left_s)

    async def _run_attempt(self) -> Attempt:
        description = self.state["description"]
        left_s, limit_s = get_remaining_s(self.config), self.worker.limits.timeout_s
        timeout_s = limit_s if left_s is None else min(limit_s, left_s)
        fault: Fault = "content"
        try:
            async with CallDeadline(limit_s, left_s).enforce_on_attempt():
                report = await self._produce_report(timeout_s)
            return Attempt(description=description, report=report)
        except TimeoutError:
            left_s = get_remaining_s(self.config)
            whose = (
                "its limit"
                if left_s is None or left_s > CLOCK_TOLERANCE_S
                else f"the run's deadline ({name_deadline_option(self.config)})"
            )
            if early := self.attempt_context.early_report:
                return Attempt(description=description, report=early)
            error = f"timed out after {timeout_s:.3g} s, {whose}"
            report = build_timeout_report(error, self._list_found())
            is_model = not (self.subteam_run or self.worker.remote)
            fault = "form" if is_model else "content"
            return Attempt(description=description, report=report, error=error, fault=fault)
        except (TurnLimitReached, UnreadableReply) as problem:
            if early := self.attempt_context.early_report:
                return Attempt(description=description, report=early)
            error = str(problem)
            fault = "form" if isinstance(problem, UnreadableReply) else "content"
        except (GraphBubbleUp, StoreError, ThreadBusy):
            raise
        except SupervisorError as problem:
            # Temporary errors were already retried where the model is called, and only there.
            is_remote = isinstance(problem, RemoteError)
            error = f"{problem.code}: {problem.describe() if is_remote else problem}"
            fault = classify_fault(problem)
        except Exception as problem:  # raised here, it would cancel the task's siblings
            error = f"{type(problem).__name__}: {problem}"
        return Attempt(
            description=description, error=shorten_text(redact_text(error), 2000), fault=fault
        )

    def _list_found(self) -> Sequence[str]:
        """Return what the tools, or the inner team, have found so far."""
        if not self.subteam_run:
            return self.attempt_context.results
        reports = self.subteam_run.state.get("results", {}).values()
        return [f"{each.task}: {each.output}" for each in reports if each.output]

    async def _produce_report(self, timeout_s: float) -> Report:
        earlier, answers = self.state.get("problem", ""), self.state.get("answers", {})
        if self.is_divided or self.worker.team:
            graph = await (
                self.agents.get_division_graph()
                if self.is_divided
                else self.agents.get_team_graph(self.worker.name)
            )
            self.subteam_run = SubteamRun(
                graph=graph,
                handoff=self._build_handoff(),
                config=self.config,
                context=self.context,
                timeout_s=timeout_s,
                max_steps=self.max_steps,
                origin=build_subteam_origin(self.state),
                guidance="" if self.is_divided else self.worker.instructions.strip(),
                subject=self.state["task"].asked,
                is_division=self.is_divided,
            )
            report = await self.subteam_run.run(earlier=earlier, answers=answers)
        elif self.worker.remote:
            report = await self._run_remote(timeout_s, earlier, answers)
        else:
            report = await self._run_agent(earlier, answers)
        return report.model_copy(update={"output": shorten_text(report.output, MAX_OUTPUT_CHARS)})

    async def _run_remote(
        self, timeout_s: float, earlier: str, answers: Mapping[str, str]
    ) -> Report:
        context, others = self.attempt_context, exclude_worker(self.state, self.worker.name)
        is_private = "private" in build_taint(others).taint_labels
        task = OutsideTask(
            handoff=self._build_handoff(),
            config=self.config,
            timeout_s=timeout_s,
            attempt=len(self.state["attempts"]) + 1,
            private_source=describe_private_source(others) if is_private else "",
            guidance=self.worker.instructions.strip(),
            is_checkpointed=self.is_checkpointed,
            ask_human=self.context.ask_human,
        )
        remote = (await self.agents.get_remote(self.worker.name)).start(task)
        try:
            return await remote.run(earlier=earlier, answers=answers)
        finally:
            context.usage += remote.usage
            context.taint.taint_labels |= frozenset(remote.taint_labels)

    async def _run_agent(self, earlier: str, answers: Mapping[str, str]) -> Report:
        call, calls = None, get_speculative_calls(self.config)
        if calls and not self.state["attempts"]:
            call = calls.take(self.state["task"])
        if call is None:
            return await self._ask_agent(earlier, answers)
        try:
            with offer_reply(call.reply):
                return await self._ask_agent(earlier, answers)
        finally:
            if call.reply.was_taken:
                await call.emit_outcome("taken")
            else:
                usage = await call.discard("its worker makes a call of its own")
                self.attempt_context.usage += usage

    async def prepare_agent(
        self, earlier: str, answers: Mapping[str, str]
    ) -> tuple[WorkerAgent, HumanMessage]:
        """Return the worker's agent and the handoff for it.

        Args:
            earlier: the last attempt's error.
            answers: of a human, by question.
        """
        agents, name = self.agents, self.worker.name
        is_recruited = name == SPECIALIST and "recruit" in self.state
        recruited = agents.get_specialist(self.state["recruit"]) if is_recruited else None
        agent = await (recruited or agents.get_agent(name))
        if sum(map(len, self.state.get("materials", {}).values())) < LONG_MATERIALS_CHARS:
            return agent, self._build_message(earlier, answers)
        return agent, await asyncio.to_thread(self._build_message, earlier, answers)

    async def _ask_agent(self, earlier: str, answers: Mapping[str, str]) -> Report:
        agent, message = await self.prepare_agent(earlier, answers)
        materials, lacking = self.state.get("materials", {}), self._list_shortfalls()
        proof, given = self.attempt_context.proof, self._build_handoff().context
        proof.materials = materials
        proof.claims = tuple(claim for each in given for claim in each.claims)
        asked = self.state.get("origin", Origin()).user_text or self.state["description"]
        proof.words = "\n".join((asked, *answers.values()))
        proof.may_send_back = not self._is_rule_based
        subject = self.state["task"].asked
        beside = WorkValues(self.worker, self._build_handoff(), subject, earlier, answers)
        with lay_beside(beside):
            return await agent.run(
                message,
                self.attempt_context,
                inputs={"materials": materials, "lacking": lacking},
                is_checkpointed=self.is_checkpointed,
            )

    def _build_message(self, earlier: str, answers: Mapping[str, str]) -> HumanMessage:
        shown = self._start_reading().materials
        return build_handoff_message(
            self._build_handoff(), earlier=earlier, answers=answers, shown=shown
        )

    def _start_reading(self) -> MaterialReading:
        """Return the record of what the model is shown; the embedded model reads by tools alone."""
        if not self._is_rule_based:
            materials = show_materials(self.worker, self.state.get("materials", {}))
            self.attempt_context.reading = MaterialReading(materials)
        return self.attempt_context.reading

    def _list_shortfalls(self) -> list[str]:
        """Return what the reports in the handoff lack, and which of those it needs are missing."""
        given = self._build_handoff().context
        done = {each.worker for each in given if each.status == "completed"}
        lacking = [f"{each.task} {reason}" for each in given for reason in list_shortfalls(each)]
        return [*lacking, *(f"no report of {n}" for n in self.worker.needs if n not in done)]

    def _build_handoff(self) -> Handoff:
        state, limits = self.state, self.worker.limits
        needed = (state["inputs"][edge.task] for edge in state["task"].depends_on)
        return Handoff(
            task=state["task"].id,
            to=self.worker.name,
            intent=state["description"],
            context=(*needed, *state.get("given", ())),
            artifacts=state.get("materials", {}),
            constraints=Constraints(
                max_tokens=limits.max_tokens, timeout_s=limits.timeout_s, tier=self.tier
            ),
        )


def _record_outcome(step: TracedStep, attempt: Attempt) -> None:
    report = attempt.report
    step.error = attempt.error or ""
    if report and report.status == "failed":
        step.error = step.error or report.output or "the worker reported failure"
    step.outputs = report.model_dump(mode="json", exclude_defaults=True) if report else {}
