"""Adding up what a run has cost."""

from collections import defaultdict
from collections.abc import Mapping

from state import Bill, Expense, Usage


def total(ledger: Mapping[str, Expense]) -> Bill:
    """Sum a ledger, also by worker and by model tier."""
    by_worker: defaultdict[str, Usage] = defaultdict(Usage)
    by_tier: defaultdict[str, Usage] = defaultdict(Usage)
    whole = Usage()
    for _, expense in sorted(ledger.items()):
        whole += expense.usage
        by_worker[expense.worker] += expense.usage
        by_tier[expense.tier] += expense.usage
    return Bill(**dict(whole), by_worker=dict(by_worker), by_tier=dict(by_tier))
