"""LangGraph by hand: a planner, one `Send` for each ready task, the next after all of them.

Workers are LangChain agents. Retries and the error handler of a node are LangGraph's own.
"""

import operator
from typing import Annotated, Any, Literal, TypedDict

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, Send
from pydantic import BaseModel

from tests.benchmarks.versus.peers.langchain_parts import TOOLS, make_model
from tests.benchmarks.versus.peers.serve import Order, Returned, serve
from tests.benchmarks.versus.work import INSTRUCTIONS, LEAD_INSTRUCTIONS, REQUEST

RETRIES = RetryPolicy(max_attempts=3, retry_on=Exception)


class PlannedTask(BaseModel):
    """A task, its worker, and the tasks that it needs."""

    id: str
    description: str
    worker: Literal["reader", "analyst"]
    depends_on: list[str] = []


class Plan(BaseModel):
    """The tasks of a plan."""

    tasks: list[PlannedTask]


class Answer(BaseModel):
    """The answer to the request."""

    text: str


class WavesState(TypedDict, total=False):
    tasks: list[dict[str, Any]]
    results: Annotated[dict[str, str], operator.or_]
    failed: Annotated[dict[str, str], operator.or_]
    answer: str


class Assignment(TypedDict):
    task: dict[str, Any]
    inputs: list[str]


def send_ready_tasks(state: WavesState) -> list[Send] | str:
    """Send each task whose inputs are there; answer when none is left that could begin."""
    done, failed = state.get("results", {}), state.get("failed", {})
    ready = [
        Send("work", {"task": task, "inputs": [done[name] for name in task["depends_on"]]})
        for task in state["tasks"]
        if task["id"] not in done | failed and all(name in done for name in task["depends_on"])
    ]
    return ready or "answer"


def keep_failure(state: Assignment, error: NodeError) -> Command[Any]:
    """Record a task that failed after all retries."""
    return Command(update={"failed": {state["task"]["id"]: str(error.error)}}, goto="gather")


def build(model: ChatOpenAI, saver: Any) -> Any:
    """Compile the graph."""
    planner = model.with_structured_output(Plan, method="function_calling")
    synthesizer = model.with_structured_output(Answer, method="function_calling")
    workers = {
        name: create_agent(model, tools=tools, system_prompt=INSTRUCTIONS)
        for name, tools in (("reader", TOOLS), ("analyst", []))
    }

    async def plan(state: WavesState) -> WavesState:
        made: Any = await planner.ainvoke(f"{LEAD_INSTRUCTIONS}\n\n{REQUEST}")
        return {"tasks": [task.model_dump() for task in made.tasks]}

    async def work(state: Assignment) -> WavesState:
        task = state["task"]
        words = "\n".join([f"task: {task['id']}", task["description"], *state["inputs"]])
        given: Any = {"messages": [{"role": "user", "content": words}]}
        made = await workers[task["worker"]].ainvoke(given)
        return {"results": {task["id"]: made["messages"][-1].content}}

    async def answer(state: WavesState) -> WavesState:
        failures = [f"failed: {name}: {why}" for name, why in state.get("failed", {}).items()]
        made: Any = await synthesizer.ainvoke(
            "\n".join([REQUEST, *state.get("results", {}).values(), *failures])
        )
        return {"answer": made.text}

    builder = StateGraph(WavesState)
    builder.add_node("plan", plan, retry_policy=RETRIES)
    builder.add_node(
        "work", work, input_schema=Assignment, retry_policy=RETRIES, error_handler=keep_failure
    )
    builder.add_node("gather", lambda _: {})
    builder.add_node("answer", answer, retry_policy=RETRIES)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", send_ready_tasks, ["work", "answer"])
    builder.add_edge("work", "gather")
    builder.add_conditional_edges("gather", send_ready_tasks, ["work", "answer"])
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


async def run(order: Order) -> Returned:
    """Run a thread, or continue it from its last checkpoint."""
    async with AsyncSqliteSaver.from_conn_string(str(order.folder / "runs.sqlite")) as saver:
        graph = build(make_model(order), saver)
        config = {"configurable": {"thread_id": order.thread}}
        state = await graph.ainvoke(None if order.is_resumed else {}, config)
        return Returned(answer=state["answer"])


if __name__ == "__main__":
    serve(run, "langgraph", "langchain", "langchain-openai")
