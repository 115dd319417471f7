"""What a run has cost, and what each call was for."""

from typing import Any

import pytest

from nodes.telemetry.cost import (
    count_extra_calls,
    find_unattributed,
    name_mechanism,
    sum_ledger,
)
from state import Estimate, Expense, Tier, Usage, enter_expenses

SPENDING: list[tuple[dict[str, Any], str]] = [
    ({"purpose": "plan"}, "plan"),
    ({"purpose": "revision", "attempt": 2}, "revision"),
    ({"purpose": "revision", "attempt": 2, "round": 3}, "revision"),
    ({"purpose": "step"}, "step"),
    ({"purpose": "synthesis"}, "synthesis"),
    ({"purpose": "synthesis", "round": 1}, "critic"),
    ({"purpose": "judge"}, "judge"),
    ({"purpose": "select"}, "judge"),
    ({"purpose": "reduce"}, "reduce"),
    ({"purpose": "critic", "round": 1}, "critic"),
    ({"task": "T1"}, "work"),
    ({"task": "T1", "attempt": 2}, "retry"),
    ({"task": "T1", "round": 1}, "critic"),
    ({"task": "T-1.a", "purpose": "refine"}, "refine"),
    ({"task": "T1", "purpose": "refine", "round": 1}, "refine"),
    ({"task": "T1", "purpose": "recruit"}, "recruit"),
    ({"task": "R", "purpose": "inner team", "attempt": 2, "inner": "plan"}, "inner team"),
    ({"task": "T1", "reopenings": 1}, "earlier run"),
    ({"purpose": "cut off"}, "cut off"),
    ({"purpose": "not ended"}, "not ended"),
    ({"purpose": "cut off", "reopenings": 2}, "earlier run"),
]


def make_expense(calls: int = 1, **fields: Any) -> Expense:
    return Expense(worker="w", tier="fast", usage=Usage(model_calls=calls), **fields)


@pytest.mark.parametrize(("fields", "mechanism"), SPENDING)
def test_an_entry_of_the_ledger_names_what_it_was_spent_on(fields, mechanism):
    assert name_mechanism(make_expense(**fields)) == mechanism


def test_entries_that_differ_in_any_field_have_different_keys():
    made = [make_expense(**fields) for fields, _ in SPENDING]

    assert len(enter_expenses(*made)) == len(made)


def test_calls_beyond_one_a_task_and_two_are_counted_by_mechanism():
    ledger = enter_expenses(
        make_expense(2, purpose="plan"),
        make_expense(3, task="T1"),
        make_expense(1, task="T1", purpose="refine"),
        make_expense(1, task="T1", attempt=2),
        make_expense(1, task="T2"),
        make_expense(1, purpose="synthesis"),
    )

    bill = sum_ledger(ledger, Estimate(model_calls=4))

    assert sum(bill.by_mechanism.values()) == bill.model_calls == 9
    assert count_extra_calls(bill) == {"plan repair": 1, "tools": 2, "refine": 1, "retry": 1}
    assert [bill.by_mechanism[name] for name in ("plan", "work", "synthesis")] == [1, 2, 1]
    assert bill.estimate == Estimate(model_calls=4)


def make_usage(calls: int, tokens: int, cost: float | None = 0.0) -> Usage:
    return Usage(model_calls=calls, input_tokens=tokens, output_tokens=tokens, cost_usd=cost)


def test_calls_that_no_step_entered_are_entered_once_however_often_it_is_asked():
    ledger = enter_expenses(Expense(worker="w", tier="fast", usage=make_usage(2, 20, 0.2)))
    result: dict[Tier, Usage] = {"fast": make_usage(3, 30, 0.5), "strong": make_usage(1, 5, None)}

    once = {**ledger, **find_unattributed(ledger, result, is_over=True)}
    twice = {**once, **find_unattributed(once, result, is_over=True)}

    bill = sum_ledger(twice)
    assert once == twice
    assert (bill.model_calls, bill.input_tokens, bill.cost_usd) == (4, 35, None)
    assert bill.by_mechanism == {"work": 1, "tools": 1, "cut off": 2}
    assert bill.by_tier["fast"].cost_usd == pytest.approx(0.5)


def test_a_journal_that_tells_less_than_the_ledger_changes_nothing():
    ledger = enter_expenses(Expense(worker="w", tier="fast", usage=make_usage(2, 20)))

    assert not find_unattributed(ledger, {"fast": make_usage(1, 90)}, is_over=True)
