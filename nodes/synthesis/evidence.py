"""Input of the synthesizer: the valid reports, compared, merged and shortened to fit."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig

from nodes.errors import BudgetSpent, DeadlinePassed, UsageError
from nodes.limits.deadline import (
    count_steps_left,
    is_deadline_past,
    name_deadline_option,
    should_degrade,
)
from nodes.models.catalog import EMBEDDED, AvailableModels, ModelCatalog
from nodes.models.guarded_model import apply_parameters
from nodes.planning.request import list_unread_attachments
from nodes.schemas.team import Team
from nodes.synthesis.contradictions import ClaimPair, find_contradicting_pairs
from nodes.synthesis.findings import (
    LOOK_TIER,
    collect_findings,
    look_again,
    merge_findings,
    select_doubtful,
)
from nodes.synthesis.gaps import drop_answered_gaps, list_gaps, list_unanswered, list_ungiven_files
from nodes.synthesis.judging import group_repeated_tasks, judge_claims, select_best_attempt
from nodes.synthesis.reduction import reduce_reports
from nodes.text.phrases import DEFAULT_LANGUAGE, detect_language, say
from nodes.text.request_parts import asks_number
from state import (
    Context,
    Contradiction,
    Expense,
    MergedFinding,
    Plan,
    Purpose,
    Report,
    SupervisorState,
    Tier,
    Usage,
    enter_expenses,
    require_plan,
)


@dataclass(frozen=True, kw_only=True)
class SynthesisInput:
    """The reports in the plan's order, and the result of comparing them."""

    reports: list[Report]
    prompt_reports: list[Report]
    """The same for the synthesizer's prompt: without findings, and summarised if too long or when
    the plan says so."""
    missing: list[str]
    findings: tuple[MergedFinding, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    caps: tuple[str, ...] = ()
    """The options of the caps that ended the run before all tasks were done."""
    is_only_capped: bool = False
    """Nothing is missing but for the caps."""
    unanswered: tuple[str, ...] = ()
    """Parts of the request, in its words, that no task covers, or whose tasks have no result."""
    remarks: tuple[str, ...] = ()
    """Gaps that do not make the run partial."""
    has_model: bool = True
    """A language model writes the answer, not the embedded one."""
    language: str = DEFAULT_LANGUAGE
    """ISO 639-1 code of the request's language, for the program's own words."""
    ledger: dict[str, Expense]


CAP_OPTIONS: Final = {
    BudgetSpent.code: "--max-tokens or --max-cost",
    DeadlinePassed.code: "--deadline",
}
"""The option that sets each cap, by the code of the error that ends a task at it."""


@dataclass
class JudgeModels:
    """The models that prepare an answer, created on first use; none after the deadline."""

    team: Team
    models: ModelCatalog
    context: Context
    config: RunnableConfig
    round: int
    """Of the critic."""
    language: str = DEFAULT_LANGUAGE
    ledger: dict[str, Expense] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.is_degraded = should_degrade(self.config)

    def get_model(self, tier: Tier, *, is_on: bool = True) -> BaseChatModel | None:
        """Return a tier's model; None when it is switched off or not available."""
        if not is_on or is_deadline_past(self.config):
            return None
        try:
            model = self.models.get_chat_model(tier, self.context)
            return apply_parameters(model, self.team.get_parameters("judge"))
        except UsageError:
            return None

    def get_writers(self) -> AvailableModels:
        """Return the model that writes the answer, and those that take over."""
        parameters = self.team.get_parameters("synthesizer")
        tier = self.team.synthesizer_tier
        return self.models.get_available_models(tier, self.context, parameters)

    def get_name(self, tier: Tier) -> str:
        """Return the name of a tier's model."""
        return self.models.get_name(tier, self.context)

    def record_usage(self, purpose: Purpose, worker: str, tier: Tier, usage: Usage) -> None:
        """Add the usage to the ledger, if there were calls: to an entry of the same purpose."""
        if usage.model_calls:
            spent = Expense(
                worker=worker, tier=tier, usage=usage, purpose=purpose, round=self.round
            )
            if earlier := self.ledger.get(spent.key):
                spent = spent.model_copy(update={"usage": earlier.usage + usage})
            self.ledger |= enter_expenses(spent)

    async def judge_pairs(self, request: str, pairs: Sequence[ClaimPair]) -> list[Contradiction]:
        """Return the contradictions among pairs of claims; without pairs no model is asked."""
        if not pairs:
            return []
        tier = self.team.judge_tier
        model = self.get_model(tier, is_on=self.team.judge and not self.is_degraded)
        why = ""
        if model is not None and self.get_name(tier) == EMBEDDED:
            model, why = None, say(self.language, "no_judging_model")
        contradictions, spent = await judge_claims(model, request, pairs, why, self.language)
        self.record_usage("judge", "judge", tier, spent)
        return contradictions


async def prepare_input(state: SupervisorState, judge_models: JudgeModels) -> SynthesisInput:
    """Return the synthesizer's input: attempts selected, findings merged, claims compared.

    A model is called only when there is something to decide or to shorten.
    """
    plan, team = state["plan"], judge_models.team
    assert plan is not None, "the supervisor has planned"
    language = await asyncio.to_thread(detect_language, state["request"])
    judge_models.language = language
    restored, notes = restore_withdrawn_results(state, language)
    results = drop_answered_gaps(plan, restored)
    unselected = await _find_unselected_tasks(plan, results, judge_models)
    idle = _find_idle_tasks(plan, results)
    left_out = unselected | idle
    tasks = [task.id for task in plan.tasks if task.id not in left_out]
    reports = [results[name] for name in tasks if name in results]
    pairs = await asyncio.to_thread(find_contradicting_pairs, reports)
    contradictions = await judge_models.judge_pairs(state["request"], pairs)
    findings = await _collect_findings(reports, state, judge_models)
    caps = find_reached_caps(state, judge_models)
    gaps = list_gaps(plan, results, left_out, caps, language)
    has_model = judge_models.get_name(team.synthesizer_tier) != EMBEDDED
    # Without a model, what was not used matters only where the rest leaves something open.
    is_open = any(report.gaps for report in reports) or asks_number(state["request"])
    named = idle if has_model or is_open else ()
    if gaps and not has_model:
        gaps += list_ungiven_files(plan, state["materials"], results, idle, language)
    evidence = SynthesisInput(
        reports=reports,
        prompt_reports=[report.model_copy(update={"findings": ()}) for report in reports],
        missing=[
            *gaps,
            *notes,
            *list_unread_attachments(state, language),
            *filter(None, [state.get("stop_reason")]),
        ],
        findings=findings,
        contradictions=tuple(contradictions),
        unanswered=list_unanswered(plan, results),
        remarks=tuple(
            gap for task in plan.tasks if task.id in named for gap in results[task.id].gaps
        ),
        caps=caps,
        is_only_capped=bool(caps) and all(map(is_stopped_by_cap, map(results.get, tasks))),
        has_model=has_model,
        language=language,
        ledger=judge_models.ledger,
    )
    is_reduced = plan.aggregation == "reduce" and not judge_models.is_degraded
    return await _fit_results(state["request"], evidence, judge_models, is_reduced=is_reduced)


def find_reached_caps(state: SupervisorState, judge_models: JudgeModels) -> tuple[str, ...]:
    """Return the options of the caps that left tasks undone; empty where none did."""
    plan, results = require_plan(state), state.get("results", {})
    undone = [results.get(task.id) for task in plan.tasks]
    caps = []
    if any(report is None for report in undone):
        if count_steps_left(state, judge_models.context, judge_models.team) <= 0:
            caps.append("--max-steps")
        if is_deadline_past(judge_models.config):
            caps.append(name_deadline_option(judge_models.config))
    errors = [(report.error or "").partition(":")[0] for report in undone if report is not None]
    options = CAP_OPTIONS | {DeadlinePassed.code: name_deadline_option(judge_models.config)}
    caps += [option for code, option in options.items() if code in errors]
    return tuple(dict.fromkeys(caps))


def is_stopped_by_cap(report: Report | None) -> bool:
    """Return whether a task is done or skipped, or nothing but a cap kept it from being done."""
    if report is None or report.status in ("completed", "skipped"):
        return True
    return (report.error or "").partition(":")[0] in CAP_OPTIONS


def restore_withdrawn_results(
    state: SupervisorState, language: str = DEFAULT_LANGUAGE
) -> tuple[dict[str, Report], list[str]]:
    """Return the valid results, with notes; a withdrawn one is valid if its rework failed."""
    results, notes = dict(state.get("results", {})), []
    for name, before in state.get("results_before_rework", {}).items():
        now = results.get(name)
        if before.status == "completed" and (now is None or now.status != "completed"):
            results[name] = before
            notes.append(say(language, "not_fixed", task=name))
    return results, notes


async def _collect_findings(
    reports: Sequence[Report], state: SupervisorState, judge_models: JudgeModels
) -> tuple[MergedFinding, ...]:
    """Return the findings for the answer; grave ones just below the threshold get a second look."""
    team = judge_models.team
    found = collect_findings(reports, min_confidence=0)
    sure = collect_findings(reports, min_confidence=team.min_finding_confidence)
    doubtful = select_doubtful(found, team.min_finding_confidence)
    if not doubtful or judge_models.is_degraded:
        return sure
    model = judge_models.get_model(LOOK_TIER)
    if model is None or judge_models.get_name(LOOK_TIER) == EMBEDDED:
        return sure
    files = state.get("materials", {})
    kept, spent = await look_again(model, doubtful, files, team.min_finding_confidence)
    judge_models.record_usage("second look", "judge", LOOK_TIER, spent)
    return merge_findings((*sure, *kept))


def _find_idle_tasks(plan: Plan, results: Mapping[str, Report]) -> frozenset[str]:
    """Return the tasks in which a worker found nothing to do, and that lack nothing of their own.

    Others have answered their words, or nothing came of any task that they work on.
    """
    done = {name for name, report in results.items() if report.status == "completed"}
    answered = {words for task in plan.tasks if task.id in done for words in task.covers}
    idle = [
        task
        for task in plan.tasks
        if (report := results.get(task.id)) and report.status == "skipped" and report.attempts
    ]
    return frozenset(
        task.id
        for task in idle
        if (task.covers and answered.issuperset(task.covers))
        or (task.depends_on and done.isdisjoint(edge.task for edge in task.depends_on))
    )


async def _find_unselected_tasks(
    plan: Plan, results: Mapping[str, Report], judge_models: JudgeModels
) -> frozenset[str]:
    team, groups = judge_models.team, group_repeated_tasks(plan)
    model = judge_models.get_model(team.judge_tier, is_on=team.judge) if groups else None
    unselected: set[str] = set()
    spent = Usage()
    for group in groups:
        passed, usage = await select_best_attempt(model, group, results)
        unselected |= passed
        spent += usage
    judge_models.record_usage("select", "judge", team.judge_tier, spent)
    return frozenset(unselected)


async def _fit_results(
    request: str, evidence: SynthesisInput, judge_models: JudgeModels, *, is_reduced: bool
) -> SynthesisInput:
    tier = judge_models.team.synthesizer_tier
    shown, spent, lost = await reduce_reports(
        lambda: judge_models.get_model(tier),
        request,
        evidence.prompt_reports,
        max_chars=judge_models.team.max_synthesis_chars,
        is_asked=is_reduced,
        language=evidence.language,
    )
    judge_models.record_usage("reduce", "synthesizer", tier, spent)
    return replace(evidence, prompt_reports=shown, missing=[*evidence.missing, *lost])
