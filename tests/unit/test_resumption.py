"""Whether a thread stopped in the middle of a run, and what a new request finds of it."""

from typing import Any, get_type_hints

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Overwrite, PregelTask, StateSnapshot
from typing_extensions import TypedDict

from graph.topology.run_start import has_unfinished_work, is_in_progress
from graph.topology.saved_work import collect_ledger, collect_pending_reports
from state import (
    Expense,
    Report,
    SupervisorState,
    Usage,
    enter_expenses,
    reopen_request,
    reset_for_new_request,
)

CONFIG: RunnableConfig = {"configurable": {"thread_id": "one"}}
LAST_STEP = 2


class Values(TypedDict, total=False):
    request: str
    planned_for: str
    ran: str


class FailingSaver(InMemorySaver):
    """Keeps what nodes have returned, and fails to save the checkpoint of the last superstep."""

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, versions: Any) -> Any:
        if metadata["step"] == LAST_STEP:
            raise ConnectionError("the database is gone")
        return await super().aput(config, checkpoint, metadata, versions)


def build_graph(saver: InMemorySaver) -> CompiledStateGraph[Any]:
    async def first(state: Values) -> Values:
        return {"ran": "first"}

    async def last(state: Values) -> Values:
        return {"ran": "last"}

    builder = StateGraph(Values)
    builder.add_node("first", first)
    builder.add_node("last", last)
    builder.add_edge(START, "first")
    builder.add_edge("first", "last")
    builder.add_edge("last", END)
    return builder.compile(checkpointer=saver)


async def test_a_thread_between_two_supersteps_is_in_progress() -> None:
    saver = FailingSaver()
    graph = build_graph(saver)
    with pytest.raises(ConnectionError):
        await graph.ainvoke({"request": "r", "planned_for": "r"}, CONFIG, durability="sync")

    snapshot = await graph.aget_state(CONFIG)

    assert snapshot.next == ()
    assert is_in_progress(snapshot) and has_unfinished_work(snapshot)


async def test_a_thread_that_has_ended_is_not_in_progress() -> None:
    graph = build_graph(InMemorySaver())
    await graph.ainvoke({"request": "r", "planned_for": "r"}, CONFIG)

    snapshot = await graph.aget_state(CONFIG)

    assert not is_in_progress(snapshot) and not has_unfinished_work(snapshot)


async def test_a_thread_that_was_never_run_is_not_in_progress() -> None:
    assert not is_in_progress(await build_graph(InMemorySaver()).aget_state(CONFIG))


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


WRITTEN_WITH_THE_PLAN = {
    *("request", "planned_for", "given", "origin", "team_record", "messages", "plan", "plans"),
    *("estimate", "max_attempts", "steps_left", "asked_s", "planned_s", "todo"),
    *("todos", "ui"),
}
WRITTEN_WITH_THE_ANSWER = {"usage", "timing", "drafted"}
KEPT = {"materials"}
"""A follow-up may name files of the thread."""


def test_every_channel_of_an_earlier_request_is_emptied_or_replaced():
    known = {*reset_for_new_request(), *WRITTEN_WITH_THE_PLAN, *WRITTEN_WITH_THE_ANSWER, *KEPT}

    assert known == set(get_type_hints(SupervisorState))


def test_a_request_that_is_tried_again_keeps_its_results_and_its_costs():
    report = Report(task="T1", status="completed")
    spent = Expense(worker="w", tier="fast", usage=Usage(model_calls=1), task="T1")

    update = reopen_request({"T1": report}, [spent])

    channels: dict[str, Any] = {**update}
    assert channels["results"] == Overwrite({"T1": report})
    (entry,) = channels["ledger"].value.values()
    assert (entry.task, entry.reopenings) == ("T1", 1)
    assert update["revisions"] == 0 and update["status"] == "running"
