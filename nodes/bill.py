"""Adding up what a run has cost, and which mechanism spent it."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

from state import Bill, Estimate, Expense, Usage

PLAN, WORK, SYNTHESIS = "plan", "work", "synthesis"
"""The N+2 of a run: one call of planning, one a task, one for the answer."""
_OWN: Final = re.compile(r"@([a-z]+)(?:#(\d+))?")
_TASK: Final = re.compile(r"[^#/]+#(\d+)(?:/(\w+))?(?:~\d+)?")
_REPEATED: Final = {
    PLAN: "revision",
    SYNTHESIS: "critic",
    "select": "judge",
    "lost": "lost",
}
_FURTHER: Final = {PLAN: "plan repair", SYNTHESIS: "synthesis repair", WORK: "tools"}


def total(ledger: Mapping[str, Expense], estimate: Estimate | None = None) -> Bill:
    """Sum a ledger, also by worker, by model tier, and by what each call was for."""
    by_worker: defaultdict[str, Usage] = defaultdict(Usage)
    by_tier: defaultdict[str, Usage] = defaultdict(Usage)
    by_mechanism: Counter[str] = Counter()
    whole = Usage()
    for entry, expense in sorted(ledger.items()):
        whole += expense.usage
        by_worker[expense.worker] += expense.usage
        by_tier[expense.tier] += expense.usage
        by_mechanism.update(_calls(entry, expense.usage.model_calls))
    return Bill(
        **dict(whole),
        by_worker=dict(by_worker),
        by_tier=dict(by_tier),
        by_mechanism=dict(by_mechanism),
        estimate=estimate,
    )


def beyond(bill: Bill) -> dict[str, int]:
    """Give the calls that go beyond N+2, by the mechanism that spent them."""
    return {
        name: calls
        for name, calls in bill.by_mechanism.items()
        if name not in (PLAN, WORK, SYNTHESIS)
    }


def _calls(entry: str, calls: int) -> dict[str, int]:
    """Say what the calls of a ledger's entry were for: the first one, and the further ones."""
    purpose = mechanism(entry)
    further = _FURTHER.get(purpose)
    if further is None or calls < 2:
        return {purpose: calls} if calls else {}
    return {purpose: 1, further: calls - 1}


def mechanism(entry: str) -> str:
    """Name what a ledger's entry was spent on.

    Entries of the graph's own steps are `@step#number`, those of tasks `task#attempt`, with
    `/refine` and the like behind, or the entry of a team's own ledger. A result that was sent back
    is marked `~round`, what was spent before a resume began anew `earlier/`.
    """
    if entry.startswith("earlier/"):
        return "earlier run"
    if found := _OWN.fullmatch(entry):
        name, number = found.groups()
        return _REPEATED.get(name, name) if number or name not in (PLAN, SYNTHESIS) else name
    found = _TASK.fullmatch(entry)
    if found is None:
        return "inner team"
    number, part = found.groups()
    if part:
        return part
    if "~" in entry:
        return "critic"
    return WORK if number == "1" else "retry"
