"""Adding up what a run has cost, and which mechanism spent it."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

from state import Attempt, Estimate, Expense, Purpose, RunUsage, Tier, Usage, enter_expenses

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
