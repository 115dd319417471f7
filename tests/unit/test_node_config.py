"""What LangGraph tells a running node: its private names, as its installed release has them."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime
from langgraph.types import interrupt
from typing_extensions import TypedDict

from graph.topology.node_config import (
    NAMESPACE_KEY,
    build_step_config,
    get_checkpointer,
    has_saved_steps,
    is_streaming_steps,
)
from nodes.limits.langgraph_keys import RUNTIME_KEY
from nodes.telemetry.events import emit

CONFIG: RunnableConfig = {"configurable": {"thread_id": "one"}}
Look = Callable[[RunnableConfig], Awaitable[Any]]


class Seen(TypedDict, total=False):
    seen: list[Any]
    said: str


def build_graph(look: Look, saver: InMemorySaver | None = None) -> CompiledStateGraph[Any]:
    """Build a graph whose only node notes what it reads in its config."""

    async def node(state: Seen, config: RunnableConfig) -> Seen:
        return {"seen": [await look(config)]}

    builder = StateGraph(Seen)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    return builder.compile(checkpointer=saver)


async def look_in_run(look: Look, saver: InMemorySaver | None = None, **options: Any) -> Any:
    return (await build_graph(look, saver).ainvoke({}, CONFIG, **options))["seen"][0]


@pytest.mark.parametrize(
    ("durability", "is_found"), [("sync", True), ("async", True), ("exit", False)]
)
async def test_a_node_finds_the_checkpointer_that_saves_its_run_while_it_runs(
    durability: Any, is_found: bool
) -> None:
    saver = InMemorySaver()

    async def look(config: RunnableConfig) -> Any:
        return get_checkpointer(config) is saver

    assert await look_in_run(look, saver, durability=durability) is is_found


async def test_a_node_of_a_run_that_is_not_saved_finds_no_checkpointer() -> None:
    async def look(config: RunnableConfig) -> Any:
        return get_checkpointer(config) is None

    assert await look_in_run(look)


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_a_node_knows_whether_inner_graphs_are_streamed(subgraphs: bool) -> None:
    async def look(config: RunnableConfig) -> Any:
        return is_streaming_steps(config)

    parts: Any = build_graph(look).astream({}, CONFIG, stream_mode="updates", subgraphs=subgraphs)

    seen = [part[-1] if subgraphs else part async for part in parts]
    assert seen == [{"node": {"seen": [subgraphs]}}]


async def test_a_node_names_its_task_its_checkpoint_and_its_runtime() -> None:
    async def look(config: RunnableConfig) -> Any:
        configurable = config["configurable"]
        assert configurable[RUNTIME_KEY] == get_runtime()
        assert configurable["checkpoint_map"][""]
        return configurable[NAMESPACE_KEY], configurable["__pregel_task_id"]

    namespace, task_id = await look_in_run(look, InMemorySaver())

    assert namespace == f"node:{task_id}"


async def run_inner_graph(saver: InMemorySaver, *, is_interrupted: bool) -> list[bool]:
    """Run a node that calls a graph; return what the node finds before each call."""
    found: list[bool] = []

    async def ask(state: Seen) -> Seen:
        return {"said": interrupt("What?") if is_interrupted else "Yes."}

    inner_builder = StateGraph(Seen)
    inner_builder.add_node("ask", ask)
    inner_builder.add_edge(START, "ask")
    inner = inner_builder.compile()

    async def look(config: RunnableConfig) -> Any:
        found.append(await has_saved_steps(config))
        return await inner.ainvoke({}, config)

    graph = build_graph(look, saver)
    await graph.ainvoke({}, CONFIG)
    if is_interrupted:
        await graph.ainvoke(None, CONFIG)
    return found


async def test_a_node_that_runs_again_finds_the_steps_that_its_graph_has_saved() -> None:
    assert await run_inner_graph(InMemorySaver(), is_interrupted=True) == [False, True]
    assert await run_inner_graph(InMemorySaver(), is_interrupted=False) == [False]


async def test_a_step_has_a_namespace_of_its_own_and_writes_nothing_to_the_outer_stream() -> None:
    async def look(config: RunnableConfig) -> Any:
        inner = build_step_config(config, "act:first")
        inner["configurable"][RUNTIME_KEY].stream_writer({"kind": "inner"})
        await emit("deadline", unfinished=[])
        return inner["configurable"][NAMESPACE_KEY], inner["metadata"]["langgraph_checkpoint_ns"]

    stream: Any = build_graph(look).astream({}, CONFIG, stream_mode=["custom", "updates"])
    parts = [part async for part in stream]

    written = [part["kind"] for mode, part in parts if mode == "custom"]
    ((namespace, metadata),) = parts[-1][1]["node"]["seen"]
    assert written == ["deadline"]
    assert namespace == metadata and namespace.endswith("|act:first")


async def test_graphs_that_steps_call_are_saved_beside_one_another() -> None:
    saver = InMemorySaver()

    async def read_step(config: RunnableConfig) -> Any:
        return config["metadata"]["langgraph_step"]

    inner = build_graph(read_step)

    async def look(config: RunnableConfig) -> Any:
        for step in ("act:first", "act:second"):
            await inner.ainvoke({}, build_step_config(config, step))

    await look_in_run(look, saver)

    namespaces = {config["configurable"][NAMESPACE_KEY] async for config in _list_configs(saver)}
    assert len({name for name in namespaces if "|act:" in name}) == 2


async def _list_configs(saver: InMemorySaver) -> Any:
    for namespace in saver.storage["one"]:
        at: RunnableConfig = {"configurable": {"thread_id": "one", NAMESPACE_KEY: namespace}}
        async for saved in saver.alist(at):
            yield saved.config
