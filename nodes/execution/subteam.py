"""A task done by a team: another graph runs inside one attempt.

The inner run has its own plan, workers and answer. It shares the outer run's clock, budget and
checkpointer; its deadline is the attempt's. Its questions to a human reach the outer run as an
interrupt; its failures become part of the report.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final, cast, get_args

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from nodes.execution.doer import Doer
from nodes.limits.budget import Budget
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import SCOPE_KEY, RunScope, get_run_scope, set_deadline
from nodes.planning.skipping import lacks_file
from nodes.prompts.messages import build_subteam_request
from nodes.schemas.handoff import InnerRequestValues, lay_beside
from nodes.security.provenance import build_subteam_origin, collect_report_labels
from nodes.security.taint import MAX_ADDRESSES, merge_labels
from nodes.telemetry.cost import sum_ledger
from nodes.telemetry.events import build_task_path
from nodes.text.phrases import DEFAULT_LANGUAGE, detect_language, say
from state import (
    COMPLETE_STATUSES,
    Answer,
    Claim,
    Context,
    Escalation,
    Expense,
    Finding,
    Origin,
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
class TeamDoer(Doer):
    """A team, or the team that divides a task of its own."""

    get_graph: Callable[[], Awaitable[TeamGraph]]
    is_division: bool = False
    """The team divides a task of its own."""
    state: dict[str, Any] | None = None
    """Of the inner run, as far as it has come; None before it begins."""

    async def do(self, config: RunnableConfig, timeout_s: float) -> Report:
        """Return the report of the team's answer to the task.

        Raises:
            SupervisorError: the team could not plan, or its models cannot be reached.
        """
        work, graph = self.work, await self.get_graph()
        handoff, self.state = work.handoff, {}
        guidance = "" if self.is_division else work.worker.instructions.strip()
        request = build_subteam_request(
            handoff, guidance=guidance, earlier=work.earlier, answers=work.answers
        )
        with lay_beside(InnerRequestValues(work.task.asked or handoff.intent)):
            async for values in graph.astream(
                {"request": request, "materials": handoff.artifacts},
                self._build_config(config, graph.name, timeout_s),
                context=self._build_context(),
                stream_mode="values",
                output_keys=READ_CHANNELS,
            ):
                self.state = cast(dict[str, Any], values)
        asked = work.state.get("origin", Origin()).user_text
        return build_report(cast(SupervisorState, self.state), detect_language(asked))

    async def complete(self, report: Report) -> Report:
        """Return the team's report, whose claims were proved inside."""
        lacking = any(map(lacks_file, self._results.values()))
        return report.model_copy(update={"failures": (), "lacks_file": lacking})

    @property
    def _results(self) -> dict[str, Report]:
        results: dict[str, Report] = (self.state or {}).get("results", {})
        return results

    @property
    def ledger(self) -> dict[str, Expense]:
        """The entries of the team's own ledger."""
        ledger: dict[str, Expense] = (self.state or {}).get("ledger", {})
        if self.is_division:
            return ledger
        return {
            name: spent.model_copy(update={"worker": f"{self.work.worker.name}/{spent.worker}"})
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
        return sum((self.state or {}).get("steps", {}).values())

    @property
    def taint_labels(self) -> tuple[TaintLabel, ...]:
        """The labels of what was read; all labels when a task of the team has no result."""
        if self.state is None:
            return super().taint_labels
        results, plan = self._results, self.state.get("plan")
        if plan is None or any(task.id not in results for task in plan.tasks):
            return merge_labels(get_args(TaintLabel))
        return merge_labels(super().taint_labels, collect_report_labels(results.values()))

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses in the task's inputs, and those that the team's searches found."""
        found = (address for each in self._results.values() for address in each.addresses)
        return tuple(dict.fromkeys([*self.taint.found_addresses, *found]))[-MAX_ADDRESSES:]

    def list_found(self) -> list[str]:
        """Return what the tasks of the team have found so far."""
        return [f"{each.task}: {each.output}" for each in self._results.values() if each.output]

    def _build_context(self) -> Context:
        """Return the run's context without its limits, which the inner run shares by its config.

        What of the run's strategy does not hold inside is left out; another team keeps its own.
        """
        context = self.work.context
        strategy: dict[str, Any] = {"strategy": None}
        if not self.is_division:
            strategy["recruit"] = None
        elif context.strategy in ("plan", "recursive"):
            strategy = {}
        return replace(
            context,
            deadline_s=None,
            max_cost_usd=None,
            max_tokens=None,
            max_tasks=None,
            max_steps=self.work.max_steps,
            approve_plan=False,
            approve_above=None,
            certificate=None,
            critic=None,
            **strategy,
        )

    def _build_config(self, config: RunnableConfig, team: str, timeout_s: float) -> RunnableConfig:
        outer, handoff = get_run_scope(config), self.work.handoff
        limit = handoff.constraints.max_tokens
        scope = RunScope(
            began_at=outer.began_at,
            deadline=set_deadline(now_s(), timeout_s) or outer.deadline,
            pace=outer.pace,
            budget=outer.budget and Budget(max_tokens=limit, parent=outer.budget),
            waits=outer.waits,
            outer_task=build_task_path(config, handoff.task),
            prior_results=handoff.context,
            origin=build_subteam_origin(self.work.state),
            keep_event=outer.keep_event,
            stops=outer.stops,
            recorder=outer.recorder,
        )
        configurable = {**config["configurable"], SCOPE_KEY: scope}
        own = {"team": team, "within": scope.outer_task, **NO_TASK}
        metadata = {**config.get("metadata", {}), **own}
        return {**config, "configurable": configurable, "metadata": metadata}


def build_report(state: SupervisorState, language: str = DEFAULT_LANGUAGE) -> Report:
    """Return a team's answer as the report of its task."""
    answer, results = state.get("answer"), state.get("results", {})
    reports = [results[name] for name in sorted(results)]
    if answer is None or not any(report.status == "completed" for report in reports):
        return _build_failure_report(answer, reports, language)
    return Report(
        output=answer.text,
        claims=_merge_claims(reports),
        has_found_claims=all(each.has_found_claims or not each.claims for each in reports),
        findings=tuple(
            Finding(**{name: getattr(finding, name) for name in Finding.model_fields})
            for finding in answer.findings
        ),
        confidence=answer.confidence,
        gaps=(*answer.gaps, *_describe_contradictions(answer, language)),
        is_partial=state.get("status") not in COMPLETE_STATUSES,
        is_unread=answer.is_unread,
    )


def _build_failure_report(answer: Answer | None, reports: list[Report], language: str) -> Report:
    gaps = "; ".join(answer.gaps) if answer else say(language, "no_answer")
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


def _describe_contradictions(answer: Answer, language: str) -> list[str]:
    undecided = say(language, "which_holds")
    return [
        say(language, "contradict", subject=each.subject, verdict=each.verdict or undecided)
        for each in answer.contradictions
    ]
