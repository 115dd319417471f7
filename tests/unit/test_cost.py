"""What a run has cost, and what each call was for."""

import pytest

from nodes.telemetry.cost import (
    count_extra_calls,
    find_unattributed,
    identify_mechanism,
    sum_ledger,
)
from state import Estimate, Expense, Tier, Usage

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
    "@cut/strong": "cut off",
    "@open/fast": "not ended",
    "earlier/@cut/strong": "earlier run",
}


@pytest.mark.parametrize(("entry", "purpose"), ENTRIES.items())
def test_an_entry_of_the_ledger_tells_what_it_was_spent_on(entry, purpose):
    assert identify_mechanism(entry) == purpose


def test_calls_beyond_one_a_task_and_two_are_counted_by_mechanism():
    calls = {"@plan": 2, "T1#1": 3, "T1#1/refine": 1, "T1#2": 1, "T2#1": 1, "@synthesis": 1}
    ledger = {
        entry: Expense(worker="w", tier="fast", usage=Usage(model_calls=count))
        for entry, count in calls.items()
    }

    bill = sum_ledger(ledger, Estimate(model_calls=4))

    assert sum(bill.by_mechanism.values()) == bill.model_calls == 9
    assert count_extra_calls(bill) == {"plan repair": 1, "tools": 2, "refine": 1, "retry": 1}
    assert [bill.by_mechanism[name] for name in ("plan", "work", "synthesis")] == [1, 2, 1]
    assert bill.estimate == Estimate(model_calls=4)


def make_usage(calls: int, tokens: int, cost: float | None = 0.0) -> Usage:
    return Usage(model_calls=calls, input_tokens=tokens, output_tokens=tokens, cost_usd=cost)


def test_calls_that_no_step_entered_are_entered_once_however_often_it_is_asked():
    ledger = {"T1#1": Expense(worker="w", tier="fast", usage=make_usage(2, 20, 0.2))}
    told: dict[Tier, Usage] = {"fast": make_usage(3, 30, 0.5), "strong": make_usage(1, 5, None)}

    once = {**ledger, **find_unattributed(ledger, told, is_over=True)}
    twice = {**once, **find_unattributed(once, told, is_over=True)}

    bill = sum_ledger(twice)
    assert once == twice
    assert (bill.model_calls, bill.input_tokens, bill.cost_usd) == (4, 35, None)
    assert bill.by_mechanism == {"work": 1, "tools": 1, "cut off": 2}
    assert bill.by_tier["fast"].cost_usd == pytest.approx(0.5)


def test_a_journal_that_tells_less_than_the_ledger_changes_nothing():
    ledger = {"T1#1": Expense(worker="w", tier="fast", usage=make_usage(2, 20))}

    assert not find_unattributed(ledger, {"fast": make_usage(1, 90)}, is_over=True)
