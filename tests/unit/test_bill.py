"""What a run has cost, and what each call was for."""

import pytest

from nodes.bill import beyond, mechanism, total
from state import Estimate, Expense, Usage

ENTRIES = {
    "@plan": "plan",
    "@plan#2": "revision",
    "@step#1": "step",
    "@synthesis": "synthesis",
    "@synthesis#1": "critic",
    "@judge": "judge",
    "@select": "judge",
    "@reduce": "reduce",
    "@critic#1": "critic",
    "T1#1": "work",
    "T1#2": "retry",
    "T-1.a#1/refine": "refine",
    "T1#1/recruit": "recruit",
    "T1#1~1": "critic",
    "T1#1/refine~1": "refine",
    "R#1/@plan": "inner team",
    "R#1/T1#1": "inner team",
    "R#2/A#1/refine": "inner team",
    "earlier/T1#1": "earlier run",
}


@pytest.mark.parametrize(("entry", "purpose"), ENTRIES.items())
def test_an_entry_of_the_ledger_tells_what_it_was_spent_on(entry, purpose):
    assert mechanism(entry) == purpose


def test_calls_beyond_one_a_task_and_two_are_counted_by_mechanism():
    calls = {"@plan": 2, "T1#1": 3, "T1#1/refine": 1, "T1#2": 1, "T2#1": 1, "@synthesis": 1}
    ledger = {
        entry: Expense(worker="w", tier="fast", usage=Usage(model_calls=count))
        for entry, count in calls.items()
    }

    bill = total(ledger, Estimate(model_calls=4))

    assert sum(bill.by_mechanism.values()) == bill.model_calls == 9
    assert beyond(bill) == {"plan repair": 1, "tools": 2, "refine": 1, "retry": 1}
    assert [bill.by_mechanism[name] for name in ("plan", "work", "synthesis")] == [1, 2, 1]
    assert bill.estimate == Estimate(model_calls=4)
