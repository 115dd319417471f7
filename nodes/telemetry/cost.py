"""What a run has cost, by the mechanism that spent it, and what it took."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from state import (
    Attempt,
    Estimate,
    Expense,
    Plan,
    Purpose,
    Report,
    RunUsage,
    Task,
    Tier,
    Timing,
    Usage,
    enter_expenses,
)

CUT_OFF: Final = "cut off"
"""Calls of attempts that a kill, a cancel or an error ended, and that a resume went on from."""
NOT_ENDED: Final = "not ended"
"""Calls of attempts that no step has entered yet, in a run that waits or has failed."""
PLAN, WORK, SYNTHESIS = "plan", "work", "synthesis"
"""The N+2 of a run: one call of planning, one a task, one for the answer."""
_FURTHER_PURPOSES: Final[Mapping[str, str]] = {
    PLAN: "plan repair",
    SYNTHESIS: "synthesis repair",
    WORK: "tools",
}
SLACK = 1.15
"""Wall time over the critical path from which waiting, not work, is what bounds a run."""


def sum_ledger(ledger: Mapping[str, Expense], estimate: Estimate | None = None) -> RunUsage:
    """Sum a ledger, also by worker, by model tier, and by what each call was for."""
    by_worker: defaultdict[str, Usage] = defaultdict(Usage)
    by_tier: defaultdict[str, Usage] = defaultdict(Usage)
    by_mechanism: Counter[str] = Counter()
    whole = Usage()
    for _, expense in sorted(ledger.items()):
        whole += expense.usage
        by_worker[expense.worker] += expense.usage
        by_tier[expense.tier] += expense.usage
        by_mechanism.update(_count_calls_by_mechanism(expense))
    return RunUsage(
        **dict(whole),
        by_worker=dict(by_worker),
        by_tier=dict(by_tier),
        by_mechanism=dict(by_mechanism),
        estimate=estimate,
    )


def count_extra_calls(bill: RunUsage) -> dict[str, int]:
    """Return the calls that go beyond N+2, by the mechanism that spent them."""
    return {
        name: calls
        for name, calls in bill.by_mechanism.items()
        if name not in (PLAN, WORK, SYNTHESIS)
    }


def find_unattributed(
    ledger: Mapping[str, Expense], told: Mapping[Tier, Usage], *, is_over: bool
) -> dict[str, Expense]:
    """Return, as entries of their own, the calls that were told of and that a ledger lacks.

    Args:
        told: what the run's calls have cost, by tier.
        is_over: whatever the ledger still lacks was cut off.
    """
    purpose: Purpose = CUT_OFF if is_over else NOT_ENDED
    attributed = {key: each for key, each in ledger.items() if each.purpose != purpose}
    paid = defaultdict(Usage, sum_ledger(attributed).by_tier)
    return enter_expenses(
        *(
            Expense(
                worker=purpose,
                tier=tier,
                usage=_subtract_usage(spent, paid[tier]),
                purpose=purpose,
            )
            for tier, spent in told.items()
            if spent.model_calls > paid[tier].model_calls
        )
    )


def _subtract_usage(told: Usage, paid: Usage) -> Usage:
    known = told.cost_usd is not None and paid.cost_usd is not None
    return Usage(
        model_calls=told.model_calls - paid.model_calls,
        input_tokens=max(0, told.input_tokens - paid.input_tokens),
        output_tokens=max(0, told.output_tokens - paid.output_tokens),
        cost_usd=max(0.0, (told.cost_usd or 0.0) - (paid.cost_usd or 0.0)) if known else None,
        seconds=max(0.0, told.seconds - paid.seconds),
        models=told.models,
        uncounted_calls=max(0, told.uncounted_calls - paid.uncounted_calls),
    )


def _count_calls_by_mechanism(expense: Expense) -> dict[str, int]:
    """Return what the calls of an entry were for: the first one, and the further ones."""
    calls, mechanism = expense.usage.model_calls, name_mechanism(expense)
    further = _FURTHER_PURPOSES.get(mechanism)
    if further is None or calls < 2:
        return {mechanism: calls} if calls else {}
    return {mechanism: 1, further: calls - 1}


def name_mechanism(expense: Expense) -> str:
    """Return the mechanism that an entry is counted under in `RunUsage.by_mechanism`."""
    if expense.reopenings:
        return "earlier run"
    match expense.purpose:
        case "select":
            return "judge"
        case "work" | "synthesis" if expense.round:
            return "critic"
        case "work" if expense.attempt > 1:
            return "retry"
        case purpose:
            return purpose


def build_expenses(task: str, number: int, attempt: Attempt) -> dict[str, Expense]:
    """Return an attempt's entries for the run's ledger; those of a nested team one by one."""
    if not attempt.ledger:
        spent = Expense(
            worker=attempt.worker,
            tier=attempt.tier,
            usage=attempt.usage,
            task=task,
            attempt=number,
        )
        return enter_expenses(spent)
    return enter_expenses(
        *(
            Expense(
                worker=spent.worker,
                tier=spent.tier,
                usage=spent.usage,
                purpose="inner team",
                task=task,
                attempt=number,
                inner=key,
            )
            for key, spent in attempt.ledger.items()
        )
    )


def measure_latency(
    plan: Plan | None,
    results: Mapping[str, Report],
    *,
    asked_s: float,
    planned_s: float,
    ended_s: float,
) -> Timing:
    """Measure a run from the moments it noted, all on the run's clock."""
    tasks = plan.order_tasks() if plan else ()
    spans = {
        task.id: results[task.id].ended_s - results[task.id].started_s
        for task in tasks
        if task.id in results
    }
    planning_s = planned_s - asked_s
    last_s = max((results[name].ended_s for name in spans), default=planned_s)
    synthesis_s = max(0.0, ended_s - last_s)
    chain, chain_s = _find_longest_chain(tasks, spans)
    wall_s = max(ended_s - asked_s, 1e-6)
    path_s = planning_s + chain_s + synthesis_s
    parts = {"supervisor": planning_s, **{n: spans[n] for n in chain}, "synthesizer": synthesis_s}
    usages = [results[name].usage for name in spans]
    sequential_s = wall_s + sum(usage.overlapped_s for usage in usages)
    has_waited = any(usage.waited_s for usage in usages)
    return Timing(
        wall_s=round(wall_s, 6),
        planning_s=round(planning_s, 6),
        sequential_s=round(sequential_s, 6),
        critical_path_s=round(path_s, 6),
        speedup=round(sequential_s / wall_s, 3) if has_waited else None,
        critical_path=tuple(parts),
        bounded_by=_name_bottleneck(parts, wall_s, path_s),
    )


def _find_longest_chain(
    tasks: Iterable[Task], spans: Mapping[str, float]
) -> tuple[tuple[str, ...], float]:
    """Return the chain of dependencies that took longest; the tasks are in topological order."""
    chains: dict[str, tuple[tuple[str, ...], float]] = {}
    for task in tasks:
        before = max(
            (chains[edge.task] for edge in task.depends_on if edge.task in chains),
            key=lambda chain: chain[1],
            default=((), 0.0),
        )
        if task.id in spans:
            chains[task.id] = ((*before[0], task.id), before[1] + spans[task.id])
    return max(chains.values(), key=lambda chain: chain[1], default=((), 0.0))


def _name_bottleneck(parts: Mapping[str, float], wall_s: float, path_s: float) -> str:
    if wall_s > path_s * SLACK:
        return f"waiting: {wall_s - path_s:.2f} s, for limits or as the run was resumed"
    name = max(parts, key=lambda part: parts[part])
    return f"{name}: {parts[name]:.2f} s of the slowest chain's {path_s:.2f} s"
