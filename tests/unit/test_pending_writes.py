"""What an unfinished superstep has saved."""

from typing import Any

from langgraph.types import Overwrite, PregelTask, StateSnapshot

from graph.topology.pending_writes import collect_ledger, collect_pending_reports
from state import Expense, Report, Usage, enter_expenses


def build_snapshot(result: Any, **values: Any) -> StateSnapshot:
    task = PregelTask("1", "supervisor", (), result=result)
    return StateSnapshot(values, (), {}, None, None, None, (task,), ())


def test_a_report_that_was_saved_is_found():
    snapshot = build_snapshot({"results": {"A": Report(task="A")}})

    assert collect_pending_reports(snapshot) == {"A": Report(task="A")}


def test_a_planned_request_whose_superstep_is_unfinished_has_no_reports_and_its_ledger():
    spent = enter_expenses(Expense(worker="supervisor", tier="strong", usage=Usage(model_calls=1)))
    snapshot = build_snapshot({"results": Overwrite({}), "ledger": Overwrite(spent)}, ledger={})

    assert collect_pending_reports(snapshot) == {}
    assert collect_ledger(snapshot) == spent
