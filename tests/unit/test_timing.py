"""What a run has cost, what bounded it, and how long its tasks waited for what is outside."""

from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.telemetry.cost import (
    count_extra_calls,
    find_unattributed,
    measure_latency,
    name_mechanism,
    sum_ledger,
)
from state import Estimate, Expense, Plan, Report, Tier, Timing, Usage, enter_expenses
from tests.moments import Moments


def make_plan(**edges: str) -> Plan:
    return Plan.model_validate(
        {
            "goal": "x",
            "tasks": [
                {"id": name, "description": "d", "worker": "w", "depends_on": list(needs)}
                for name, needs in edges.items()
            ],
        }
    )


def make_report(name: str, started_s: float, ended_s: float, **waits: float) -> Report:
    usage = Usage(**waits)
    return Report(task=name, worker="w", started_s=started_s, ended_s=ended_s, usage=usage)


def measure_timing(the_plan: Plan, *reports: Report, ended_s: float) -> Timing:
    results = {one.task: one for one in reports}
    return measure_latency(the_plan, results, asked_s=0.0, planned_s=1.0, ended_s=ended_s)


def test_the_critical_path_is_the_longest_chain_with_planning_and_answer() -> None:
    report_of = measure_timing(
        make_plan(A="", B="A", C=""),
        make_report("A", 1, 2),
        make_report("B", 2, 5),
        make_report("C", 1, 4),
        ended_s=6,
    )

    assert report_of.critical_path == ("supervisor", "A", "B", "synthesizer")
    assert report_of.critical_path_s == 6
    assert report_of.bounded_by.startswith("B: 3.00 s")


TOGETHER = {"waited_s": 3, "overlapped_s": 1.5}


@pytest.mark.parametrize(
    ("edges", "waits", "sequential_s", "speedup"),
    [
        ({"A": "", "B": "", "C": ""}, {"A": TOGETHER, "B": TOGETHER}, 9, 1.5),
        ({"A": "", "B": ""}, {}, 6, None),
        ({"A": ""}, {"A": {"waited_s": 4}}, 6, 1),
    ],
    ids=["waits together", "one processor", "a wait alone"],
)
def test_the_speed_up_counts_what_tasks_waited_for_at_the_same_time(
    edges: dict[str, str],
    waits: dict[str, dict[str, float]],
    sequential_s: float,
    speedup: float | None,
) -> None:
    reports = [make_report(name, 1, 5, **waits.get(name, {})) for name in edges]

    report_of = measure_timing(make_plan(**edges), *reports, ended_s=6)

    assert (report_of.sequential_s, report_of.speedup) == (sequential_s, speedup)


def test_time_beyond_the_critical_path_is_named_as_waiting() -> None:
    assert measure_timing(make_plan(A=""), make_report("A", 5, 6), ended_s=7).bounded_by.startswith(
        "waiting: 4.00 s"
    )


def test_a_run_without_results_is_measured_too() -> None:
    assert measure_timing(make_plan(A=""), ended_s=2).critical_path == ("supervisor", "synthesizer")


@given(st.lists(st.floats(0, 10), min_size=4, max_size=4))
def test_a_run_is_never_faster_than_its_critical_path(moments: list[float]) -> None:
    first, second, third, fourth = sorted(1 + moment for moment in moments)

    report_of = measure_timing(
        make_plan(A="", B="A"),
        make_report("A", first, second),
        make_report("B", second, third),
        ended_s=fourth + 1,
    )

    assert report_of.critical_path_s <= report_of.wall_s + 1e-5
    assert report_of.critical_path_s <= report_of.sequential_s + 1e-5


def test_tasks_that_wait_at_the_same_time_save_all_but_one_of_the_waits():
    now = Moments()

    with now.waits.count("a"), now.waits.count("b"), now.waits.count("c"):
        now.pass_time(2.0)
    with now.waits.count("a"):
        now.pass_time(1.0)

    taken = [now.waits.take(name) for name in "abc"]
    assert [each.waited_s for each in taken] == pytest.approx([3, 2, 2])
    assert sum(each.overlapped_s for each in taken) == pytest.approx(4)
    assert now.waits.take("a") == Usage()


def test_seconds_in_which_the_process_computed_are_no_wait():
    now = Moments()

    with now.waits.count("a"), now.waits.count("b"):
        now.pass_time(2.0, computed_s=2.0)

    assert now.waits.take("a") == now.waits.take("b") == Usage()


def test_several_cores_at_work_do_not_make_a_wait_negative():
    now = Moments()

    with now.waits.count("a"):
        now.pass_time(1.0, computed_s=4.0)
        now.pass_time(1.0)

    assert now.waits.take("a").waited_s >= 0


def test_calls_of_one_task_at_the_same_time_are_one_wait():
    now = Moments()

    with now.waits.count("a"), now.waits.count("a"):
        now.pass_time(2.0)

    assert now.waits.take("a") == Usage(waited_s=2.0)


def test_a_call_that_fails_has_been_waited_for_and_is_open_no_more():
    now = Moments()

    with pytest.raises(OSError), now.waits.count("a"):
        now.pass_time(1.0)
        raise OSError
    now.pass_time(5.0)
    with now.waits.count("b"):
        now.pass_time(1.0)

    assert now.waits.take("a") == now.waits.take("b") == Usage(waited_s=1.0)


@given(st.lists(st.tuples(st.sets(st.sampled_from("abcd")), st.floats(0, 10)), max_size=8))
def test_what_overlaps_is_the_sum_of_the_waits_less_the_time_in_which_any_task_waited(parts):
    now = Moments()

    for tasks, seconds in parts:
        with ExitStack() as stack:
            for task in sorted(tasks):
                stack.enter_context(now.waits.count(task))
            now.pass_time(seconds)

    taken = [now.waits.take(name) for name in "abcd"]
    waited_s = sum(seconds for tasks, seconds in parts if tasks)
    together_s = sum(each.waited_s for each in taken) - waited_s
    assert sum(each.overlapped_s for each in taken) == pytest.approx(together_s, abs=1e-6)


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
