"""What the systems on LangChain share: the model, the tool, retries, and SQLite as checkpointer."""

from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import ModelRetryMiddleware
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import SecretStr

from tests.benchmarks.versus.peers.serve import Order, Returned, Run, read_offer
from tests.benchmarks.versus.work import MODEL, REQUEST


@tool
def read_document(name: str) -> str:
    """Return the words of an offer, by its name, such as north.md."""
    return read_offer(name)


TOOLS: list[BaseTool] = [read_document]


def make_model(order: Order) -> ChatOpenAI:
    """Make the model; the middleware retries, so its client does not."""
    key = SecretStr("sk-versus")
    return ChatOpenAI(model=MODEL, base_url=order.base_url, api_key=key, max_retries=0)


def make_retries() -> list[Any]:
    """Make LangChain's own middleware: two retries, then the error is the reply, as documented."""
    return [ModelRetryMiddleware(max_retries=2)]


def run_with(build: Callable[[ChatOpenAI, Any], Any]) -> Run:
    """Return what runs a graph of messages; a resumed thread gets no input, as documented."""

    async def run(order: Order) -> Returned:
        async with AsyncSqliteSaver.from_conn_string(str(order.folder / "runs.sqlite")) as saver:
            graph = build(make_model(order), saver)
            given = {"messages": [{"role": "user", "content": REQUEST}]}
            config = {"configurable": {"thread_id": order.thread}}
            state = await graph.ainvoke(None if order.is_resumed else given, config)
            return Returned(answer=str(state["messages"][-1].content))

    return run
