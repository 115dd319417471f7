"""Whether a thread stopped in the middle of a run."""

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from graph.runs.resumption import has_unfinished_work
from graph.topology.continuation import is_in_progress

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
