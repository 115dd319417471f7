"""What an answer is written from: the reports that stand, compared, merged and made to fit."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig

from nodes.errors import UsageError
from nodes.limits.deadline import is_deadline_past
from nodes.limits.degradation import should_degrade
from nodes.models.catalog import ModelCatalog
from nodes.planning.skipping import list_shortfalls
from nodes.synthesis.contradictions import find_contradicting_pairs
from nodes.synthesis.findings import collect_findings
from nodes.synthesis.judging import group_repeated_tasks, judge_claims, select_best_attempt
from nodes.synthesis.reduction import reduce_reports
from state import (
    Context,
    Contradiction,
    Expense,
    MergedFinding,
    Plan,
    Purpose,
    Report,
    SupervisorState,
    Team,
    Tier,
    Usage,
    enter_expenses,
)


@dataclass(frozen=True, kw_only=True)
class SynthesisInput:
    """The reports in the plan's order, and what was found by holding them together."""

    reports: list[Report]
    prompt_reports: list[Report]
    """The same for the synthesizer's prompt: without findings, and summarised if too long."""
    missing: list[str]
    findings: tuple[MergedFinding, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    ledger: dict[str, Expense]


class JudgeModels:
    """The models that prepare an answer, made when first needed; none when time is up."""

    def __init__(
        self,
        team: Team,
        models: ModelCatalog,
        context: Context,
        config: RunnableConfig,
        round: int,
    ) -> None:
        self.team, self.models, self.context = team, models, context
        self.has_time, self.is_degraded = not is_deadline_past(config), should_degrade(config)
        self.round = round
        self.ledger: dict[str, Expense] = {}

    def get_model(self, tier: Tier, *, is_on: bool = True) -> BaseChatModel | None:
        """Return a tier's model; None when it may not be asked or cannot be had."""
        if not is_on or not self.has_time:
            return None
        try:
            return self.models.get_chat_model(tier, self.context)
        except UsageError:
            return None

    def record_usage(self, purpose: Purpose, worker: str, tier: Tier, usage: Usage) -> None:
        """Enter what was spent, if anything was."""
        if usage.model_calls:
            spent = Expense(
                worker=worker, tier=tier, usage=usage, purpose=purpose, round=self.round
            )
            self.ledger |= enter_expenses(spent)


async def prepare_input(state: SupervisorState, bench: JudgeModels) -> SynthesisInput:
    """Choose among attempts, merge findings, compare claims, and make the results fit.

    None of this asks a model unless there is something to decide or to shorten.
    """
    plan, team = state["plan"], bench.team
    assert plan is not None, "the supervisor has planned"
    results, notes = restore_withdrawn_results(state)
    left_out = await _find_unselected_tasks(plan, results, bench)
    tasks = [task.id for task in plan.tasks if task.id not in left_out]
    reports = [results[name] for name in tasks if name in results]
    pairs = await asyncio.to_thread(find_contradicting_pairs, reports)
    judges = team.judge and not bench.is_degraded
    judge_model = bench.get_model(team.judge_tier, is_on=judges) if pairs else None
    contradictions, spent = await judge_claims(judge_model, state["request"], pairs)
    bench.record_usage("judge", "judge", team.judge_tier, spent)
    matter = SynthesisInput(
        reports=reports,
        prompt_reports=[report.model_copy(update={"findings": ()}) for report in reports],
        missing=[
            *list_gaps(plan, results, left_out),
            *notes,
            *filter(None, [state.get("stop_reason")]),
        ],
        findings=collect_findings(reports, min_confidence=team.min_finding_confidence),
        contradictions=tuple(contradictions),
        ledger=bench.ledger,
    )
    return await _fit_results(state["request"], matter, bench)


def restore_withdrawn_results(state: SupervisorState) -> tuple[dict[str, Report], list[str]]:
    """Return the results that stand: one that was sent back does where its new attempt failed."""
    results, notes = dict(state.get("results", {})), []
    for name, before in state.get("results_before_rework", {}).items():
        now = results.get(name)
        if before.status == "completed" and (now is None or now.status != "completed"):
            results[name] = before
            notes.append(f"{name} was sent back and not mended: its first result stands")
    return results, notes


def list_gaps(
    plan: Plan, results: Mapping[str, Report], left_out: frozenset[str] = frozenset()
) -> list[str]:
    """Name each task of the plan that has no whole result, and why; once for the same reason."""
    said: dict[str, list[str]] = {}
    for task in plan.tasks:
        report = results.get(task.id)
        if task.id in left_out:
            continue
        reasons = [f"was not run before the run's caps: {task.description}"]
        if report is not None:
            reasons = list_shortfalls(report, task.description)
        for reason in reasons:
            said.setdefault(reason, []).append(task.id)
    return [_format_gap(tasks, reason) for reason, tasks in said.items()]


def _format_gap(tasks: Sequence[str], reason: str) -> str:
    if len(tasks) > 1 and reason.startswith("was "):
        reason = f"were {reason.removeprefix('was ')}"
    return f"{', '.join(tasks)} {reason}"


async def _find_unselected_tasks(
    plan: Plan, results: Mapping[str, Report], bench: JudgeModels
) -> frozenset[str]:
    team, groups = bench.team, group_repeated_tasks(plan)
    model = bench.get_model(team.judge_tier, is_on=team.judge) if groups else None
    others: set[str] = set()
    spent = Usage()
    for group in groups:
        passed, usage = await select_best_attempt(model, group, results)
        others |= passed
        spent += usage
    bench.record_usage("select", "judge", team.judge_tier, spent)
    return frozenset(others)


async def _fit_results(request: str, matter: SynthesisInput, bench: JudgeModels) -> SynthesisInput:
    tier = bench.team.synthesizer_tier
    shown, spent, lost = await reduce_reports(
        lambda: bench.get_model(tier),
        request,
        matter.prompt_reports,
        max_chars=bench.team.max_synthesis_chars,
    )
    bench.record_usage("reduce", "synthesizer", tier, spent)
    return replace(matter, prompt_reports=shown, missing=[*matter.missing, *lost])
