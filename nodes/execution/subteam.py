"""A task done by a team: another graph runs inside one attempt.

The inner run has its own plan, workers and answer. It shares the outer run's clock, budget and
checkpointer; its deadline is the attempt's. Its questions to a human reach the outer run as an
interrupt; its failures become part of the report.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast, get_args

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from nodes.limits.budget import Budget
from nodes.limits.clock import now_s
from nodes.limits.run_scope import SCOPE_KEY, RunScope, get_run_scope, set_deadline
from nodes.planning.skipping import lacks_file
from nodes.prompts.messages import build_subteam_request
from nodes.schemas.beside import InnerRequestValues, lay_beside
from nodes.schemas.handoff import Handoff
from nodes.security.provenance import collect_report_labels
from nodes.telemetry.cost import sum_ledger
from nodes.telemetry.events import build_task_path
from state import (
    COMPLETE_STATUSES,
    Answer,
    Claim,
    Context,
    Escalation,
    Expense,
    Finding,
    Origin,
    Plan,
    Report,
    SupervisorState,
    TaintLabel,
    Usage,
)

TeamGraph = CompiledStateGraph[Any, Context, Any, Any]

READ_CHANNELS = ("answer", "ledger", "plan", "results", "status", "steps")
"""The channels of the inner run that the attempt needs."""
NO_TASK: Final = {"task": "", "worker": ""}
"""Metadata in place of the outer task's, which events of the team must not take for its own."""
MAX_CLAIMS = 60
"""Limit for the claims of an inner team in its report."""


@dataclass(kw_only=True)
class SubteamRun:
    """One attempt at a task by a team; its usage is known even when it fails."""

    graph: TeamGraph
    handoff: Handoff
    config: RunnableConfig
    context: Context
    timeout_s: float
    max_steps: int
    """Attempts that the outer run's step cap leaves for it."""
    origin: Origin
    """The origin of the task's words, which restricts the team's tools."""
    guidance: str = ""
    """Instructions that are added to each request."""
    subject: str = ""
    """The request's own words that the task answers; empty where none are named."""
    is_division: bool = False
    """The team divides a task of its own."""
    state: dict[str, Any] = field(default_factory=dict)

    async def run(self, *, earlier: str, answers: Mapping[str, str]) -> Report:
        """Return the report of the team's answer to the task.

        Raises:
            SupervisorError: the team could not plan, or its models cannot be reached.
        """
        inner_input = {
            "request": build_subteam_request(
                self.handoff, guidance=self.guidance, earlier=earlier, answers=answers
            ),
            "materials": self.handoff.artifacts,
        }
        context = replace(
            self.context,
            deadline_s=None,
            max_cost_usd=None,
            max_tokens=None,
            max_tasks=None,
            max_steps=self.max_steps,
            approve_plan=False,
            critic=None,
            **self._choose_strategy(),
        )
        with lay_beside(InnerRequestValues(self.subject or self.handoff.intent)):
            async for values in self.graph.astream(
                inner_input,
                self._build_config(),
                context=context,
                stream_mode="values",
                output_keys=READ_CHANNELS,
            ):
                self.state = cast(dict[str, Any], values)
        return build_report(cast(SupervisorState, self.state))

    @property
    def ledger(self) -> dict[str, Expense]:
        """The entries of the team's own ledger."""
        ledger: dict[str, Expense] = self.state.get("ledger", {})
        if self.is_division:
            return ledger
        return {
            name: spent.model_copy(update={"worker": f"{self.handoff.to}/{spent.worker}"})
            for name, spent in ledger.items()
        }

    @property
    def usage(self) -> Usage:
        """The total usage of the team."""
        total = sum_ledger(self.ledger)
        return Usage(**{name: getattr(total, name) for name in Usage.model_fields})

    @property
    def steps(self) -> int:
        """The number of attempts of the team's workers."""
        return sum(self.state.get("steps", {}).values())

    @property
    def taint_labels(self) -> tuple[TaintLabel, ...]:
        """The labels of what the team has read; all labels when one of its tasks has no result."""
        results: dict[str, Report] = self.state.get("results", {})
        plan: Plan | None = self.state.get("plan")
        if plan is None or any(task.id not in results for task in plan.tasks):
            return get_args(TaintLabel)
        return collect_report_labels(results.values())

    @property
    def lacks_file(self) -> bool:
        """Whether a task of the team that was not completed had nothing to read."""
        return any(map(lacks_file, self.state.get("results", {}).values()))

    @property
    def addresses(self) -> list[str]:
        """The addresses that the team's searches found."""
        reports = self.state.get("results", {}).values()
        return [address for report in reports for address in report.addresses]

    def _choose_strategy(self) -> dict[str, Any]:
        """Return what of the run's strategy does not hold inside; another team keeps its own."""
        if not self.is_division:
            return {"strategy": None, "recruit": None}
        is_plan = self.context.strategy in ("plan", "recursive")
        return {} if is_plan else {"strategy": None}

    def _build_config(self) -> RunnableConfig:
        outer = get_run_scope(self.config)
        limit = self.handoff.constraints.max_tokens
        scope = RunScope(
            began_at=outer.began_at,
            deadline=set_deadline(now_s(), self.timeout_s) or outer.deadline,
            pace=outer.pace,
            budget=outer.budget and Budget(max_tokens=limit, parent=outer.budget),
            waits=outer.waits,
            outer_task=build_task_path(self.config, self.handoff.task),
            prior_results=self.handoff.context,
            origin=self.origin,
            keep_event=outer.keep_event,
            stops=outer.stops,
        )
        configurable = {**self.config["configurable"], SCOPE_KEY: scope}
        own = {"team": self.graph.name, "within": scope.outer_task, **NO_TASK}
        metadata = {**self.config.get("metadata", {}), **own}
        return {**self.config, "configurable": configurable, "metadata": metadata}


def build_report(state: SupervisorState) -> Report:
    """Return a team's answer as the report of its task."""
    answer, results = state.get("answer"), state.get("results", {})
    reports = [results[name] for name in sorted(results)]
    if answer is None or not any(report.status == "completed" for report in reports):
        return _build_failure_report(answer, reports)
    return Report(
        output=answer.text,
        claims=_merge_claims(reports),
        has_found_claims=all(each.has_found_claims or not each.claims for each in reports),
        findings=tuple(
            Finding(**{name: getattr(finding, name) for name in Finding.model_fields})
            for finding in answer.findings
        ),
        confidence=answer.confidence,
        gaps=(*answer.gaps, *_describe_contradictions(answer)),
        is_partial=state.get("status") not in COMPLETE_STATUSES,
        is_unread=answer.is_unread,
    )


def _build_failure_report(answer: Answer | None, reports: list[Report]) -> Report:
    gaps = "; ".join(answer.gaps) if answer else "the team gave no answer"
    escalation = next((report.escalation for report in reports if report.escalation), None)
    if escalation and all(report.status in ("escalated", "skipped") for report in reports):
        parts = [report.escalation.partial for report in reports if report.escalation]
        partial = "\n\n".join(filter(None, parts))
        return Report(
            status="escalated",
            escalation=Escalation(
                reason=escalation.reason, message=escalation.message, partial=partial
            ),
            confidence=0,
        )
    return Report(status="failed", output=gaps, confidence=0)


def _merge_claims(reports: list[Report]) -> tuple[Claim, ...]:
    claims = [claim for report in reports for claim in report.claims]
    return tuple({(claim.text, claim.source): claim for claim in claims}.values())[:MAX_CLAIMS]


def _describe_contradictions(answer: Answer) -> list[str]:
    return [
        f"{dispute.subject}: sources contradict each other; "
        f"{dispute.verdict or 'it is undecided which holds'}"
        for dispute in answer.contradictions
    ]
