"""Adding up what a run has cost, and which mechanism spent it."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

from nodes.limits.patterns import Pattern
from state import Estimate, Expense, RunUsage, Tier, Usage

CUT_OFF: Final = "cut off"
"""Calls of attempts that a kill, a cancel or an error ended, and that a resume went on from."""
NOT_ENDED: Final = "not ended"
"""Calls of attempts that no step has entered yet, in a run that waits or has failed."""
PLAN, WORK, SYNTHESIS = "plan", "work", "synthesis"
"""The N+2 of a run: one call of planning, one a task, one for the answer."""
_STEP_ENTRY: Final = Pattern(r"@([a-z]+)(?:#(\d+))?")
_TASK_ENTRY: Final = Pattern(r"[^#/]+#(\d+)(?:/(\w+))?(?:~\d+)?")
_REPEATED_PURPOSES: Final = {
    PLAN: "revision",
    SYNTHESIS: "critic",
    "select": "judge",
    "lost": "lost",
}
_UNATTRIBUTED: Final = {"@cut": CUT_OFF, "@open": NOT_ENDED}
_FURTHER_PURPOSES: Final = {PLAN: "plan repair", SYNTHESIS: "synthesis repair", WORK: "tools"}


def sum_ledger(ledger: Mapping[str, Expense], estimate: Estimate | None = None) -> RunUsage:
    """Sum a ledger, also by worker, by model tier, and by what each call was for."""
    by_worker: defaultdict[str, Usage] = defaultdict(Usage)
    by_tier: defaultdict[str, Usage] = defaultdict(Usage)
    by_mechanism: Counter[str] = Counter()
    whole = Usage()
    for entry, expense in sorted(ledger.items()):
        whole += expense.usage
        by_worker[expense.worker] += expense.usage
        by_tier[expense.tier] += expense.usage
        by_mechanism.update(_count_calls_by_purpose(entry, expense.usage.model_calls))
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
    name = "@cut" if is_over else "@open"
    entered = {entry: spent for entry, spent in ledger.items() if not entry.startswith(f"{name}/")}
    paid = defaultdict(Usage, sum_ledger(entered).by_tier)
    purpose = _UNATTRIBUTED[name]
    return {
        f"{name}/{tier}": Expense(
            worker=purpose, tier=tier, usage=_subtract_usage(spent, paid[tier])
        )
        for tier, spent in told.items()
        if spent.model_calls > paid[tier].model_calls
    }


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


def _count_calls_by_purpose(entry: str, calls: int) -> dict[str, int]:
    """Return what the calls of a ledger's entry were for: the first one, and the further ones."""
    purpose = identify_mechanism(entry)
    further = _FURTHER_PURPOSES.get(purpose)
    if further is None or calls < 2:
        return {purpose: calls} if calls else {}
    return {purpose: 1, further: calls - 1}


def identify_mechanism(entry: str) -> str:
    """Name what a ledger's entry was spent on.

    Entries of the graph's own steps are `@step#number`, those of tasks `task#attempt`, with
    `/refine` and the like behind, or the entry of a team's own ledger. A result that was sent back
    is marked `~round`, what was spent before a resume began anew `earlier/`. `@cut/tier` and
    `@open/tier` are what no step has entered.
    """
    if entry.startswith("earlier/"):
        return "earlier run"
    if purpose := _UNATTRIBUTED.get(entry.partition("/")[0]):
        return purpose
    if found := _STEP_ENTRY.fullmatch(entry):
        name, number = found.groups()
        return (
            _REPEATED_PURPOSES.get(name, name) if number or name not in (PLAN, SYNTHESIS) else name
        )
    found = _TASK_ENTRY.fullmatch(entry)
    if found is None:
        return "inner team"
    number, part = found.groups()
    if part:
        return part
    if "~" in entry:
        return "critic"
    return WORK if number == "1" else "retry"
