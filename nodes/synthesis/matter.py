"""What an answer is written from: the reports that stand, compared, merged and made to fit."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig

from nodes.cascade import list_shortfalls
from nodes.deadline import is_past
from nodes.errors import UsageError
from nodes.models.catalog import Models
from nodes.synthesis.contradictions import candidates
from nodes.synthesis.findings import gather
from nodes.synthesis.judging import attempts_at_one_task, judge, select
from nodes.synthesis.reduction import reduced
from nodes.thrift import must_save
from state import (
    Context,
    Contradiction,
    Expense,
    MergedFinding,
    Plan,
    Report,
    SupervisorState,
    Team,
    Tier,
    Usage,
)


@dataclass(frozen=True, kw_only=True)
class Matter:
    """The reports in the plan's order, and what was found by holding them together."""

    reports: list[Report]
    shown: list[Report]
    """The same for the synthesizer's prompt: without findings, and summarised if too long."""
    missing: list[str]
    findings: tuple[MergedFinding, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    ledger: dict[str, Expense]


class Bench:
    """The models that prepare an answer, made when first needed; none when time is up."""

    def __init__(
        self, team: Team, models: Models, context: Context, config: RunnableConfig, suffix: str
    ) -> None:
        self.team, self.models, self.context = team, models, context
        self.has_time, self.must_save = not is_past(config), must_save(config)
        self.suffix = suffix
        self.ledger: dict[str, Expense] = {}

    def model(self, tier: Tier, *, is_on: bool = True) -> BaseChatModel | None:
        """Give a tier's model; None when it may not be asked or cannot be had."""
        if not is_on or not self.has_time:
            return None
        try:
            return self.models.chat(tier, self.context)
        except UsageError:
            return None

    def spend(self, name: str, worker: str, tier: Tier, usage: Usage) -> None:
        """Enter what was spent, if anything was."""
        if usage.model_calls:
            expense = Expense(worker=worker, tier=tier, usage=usage)
            self.ledger[f"@{name}{self.suffix}"] = expense


async def prepare(state: SupervisorState, bench: Bench) -> Matter:
    """Choose among attempts, merge findings, compare claims, and make the results fit.

    None of this asks a model unless there is something to decide or to shorten.
    """
    plan, team = state["plan"], bench.team
    assert plan is not None, "the supervisor has planned"
    results, notes = standing(state)
    left_out = await _passed_over(plan, results, bench)
    tasks = [task.id for task in plan.tasks if task.id not in left_out]
    reports = [results[name] for name in tasks if name in results]
    pairs = await asyncio.to_thread(candidates, reports)
    judges = team.judge and not bench.must_save
    judge_model = bench.model(team.judge_tier, is_on=judges) if pairs else None
    contradictions, spent = await judge(judge_model, state["request"], pairs)
    bench.spend("judge", "judge", team.judge_tier, spent)
    matter = Matter(
        reports=reports,
        shown=[report.model_copy(update={"findings": ()}) for report in reports],
        missing=[*gaps(plan, results, left_out), *notes, *filter(None, [state.get("cut")])],
        findings=gather(reports, min_confidence=team.min_finding_confidence),
        contradictions=tuple(contradictions),
        ledger=bench.ledger,
    )
    return await _fitted(state["request"], matter, bench)


def standing(state: SupervisorState) -> tuple[dict[str, Report], list[str]]:
    """Give the results that stand: one that was sent back does where its new attempt failed."""
    results, notes = dict(state.get("results", {})), []
    for name, before in state.get("withdrawn", {}).items():
        now = results.get(name)
        if before.status == "completed" and (now is None or now.status != "completed"):
            results[name] = before
            notes.append(f"{name} was sent back and not mended: its first result stands")
    return results, notes


def gaps(
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
    return [_of_all(tasks, reason) for reason, tasks in said.items()]


def _of_all(tasks: Sequence[str], reason: str) -> str:
    if len(tasks) > 1 and reason.startswith("was "):
        reason = f"were {reason.removeprefix('was ')}"
    return f"{', '.join(tasks)} {reason}"


async def _passed_over(plan: Plan, results: Mapping[str, Report], bench: Bench) -> frozenset[str]:
    team, groups = bench.team, attempts_at_one_task(plan)
    model = bench.model(team.judge_tier, is_on=team.judge) if groups else None
    others: set[str] = set()
    spent = Usage()
    for group in groups:
        passed, usage = await select(model, group, results)
        others |= passed
        spent += usage
    bench.spend("select", "judge", team.judge_tier, spent)
    return frozenset(others)


async def _fitted(request: str, matter: Matter, bench: Bench) -> Matter:
    tier = bench.team.synthesizer_tier
    shown, spent, lost = await reduced(
        lambda: bench.model(tier),
        request,
        matter.shown,
        max_chars=bench.team.max_synthesis_chars,
    )
    bench.spend("reduce", "synthesizer", tier, spent)
    return replace(matter, shown=shown, missing=[*matter.missing, *lost])
