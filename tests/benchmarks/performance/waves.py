"""LangGraph as most use it: one `Send` per ready task, and the next after all of them.

Over LangChain's own client, without checks, tools or a trace.
"""

import operator
from typing import Annotated, Any, TypedDict

from langchain_openai import ChatOpenAI
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from pydantic import BaseModel, SecretStr

from tests.benchmarks.performance.floor import MODEL


class PlannedTask(BaseModel):
    """A task, and those that it needs."""

    id: str
    depends_on: list[str] = []


class Plan(BaseModel):
    """Tasks."""

    tasks: list[PlannedTask]


class Report(BaseModel):
    """The result of a task."""

    output: str


class Answer(BaseModel):
    """The answer."""

    text: str


class WavesState(TypedDict, total=False):
    plan: dict[str, list[str]]
    results: Annotated[dict[str, str], operator.or_]
    answer: str


class Assignment(TypedDict):
    task: str
    inputs: list[str]


def build_waves(base_url: str, saver: BaseCheckpointSaver[Any]) -> Any:
    """Compile the graph; its last state has `results` by task."""
    model = ChatOpenAI(
        model=MODEL, base_url=base_url, api_key=SecretStr("sk-benchmark"), max_retries=0
    )
    planner, worker, synthesizer = (
        model.with_structured_output(schema, method="function_calling")
        for schema in (Plan, Report, Answer)
    )

    async def plan(state: WavesState) -> WavesState:
        made: Any = await planner.ainvoke("Plan.")
        return {"plan": {task.id: task.depends_on for task in made.tasks}}

    async def work(state: Assignment) -> WavesState:
        inputs = "\n".join(state["inputs"])
        report: Any = await worker.ainvoke(f"task: {state['task']}\n{inputs}")
        return {"results": {state["task"]: report.output}}

    async def answer(state: WavesState) -> WavesState:
        made: Any = await synthesizer.ainvoke("\n".join(state["results"].values()))
        return {"answer": made.text}

    def send_ready_tasks(state: WavesState) -> list[Send] | str:
        edges, done = state["plan"], state.get("results", {})
        ready = [
            Send("work", {"task": task, "inputs": [done[name] for name in needed]})
            for task, needed in edges.items()
            if task not in done and all(name in done for name in needed)
        ]
        return ready or "answer"

    builder = StateGraph(WavesState)
    builder.add_node("plan", plan)
    builder.add_node("work", work, input_schema=Assignment)
    builder.add_node("gather", lambda _: {})
    builder.add_node("answer", answer)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", send_ready_tasks, ["work", "answer"])
    builder.add_edge("work", "gather")
    builder.add_conditional_edges("gather", send_ready_tasks, ["work", "answer"])
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)
