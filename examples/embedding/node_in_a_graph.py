"""A team as a node of another graph, whose user approves the team's plan.

    python -m examples.embedding.node_in_a_graph

Parent and team share the state's keys `request`, `materials`, `answer` and `messages`. The team
asks through the parent's checkpointer: the question surfaces in the parent, and the parent is
resumed. The saver is told that it may read our type `Answer` from a checkpoint.
"""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from supervisor_worker import Answer, Context, build_supervisor

PRICES = "# Heat pumps\n\nA heat pump moves heat. It costs 9000 EUR in Bern.\n"


class ParentState(MessagesState):
    """The keys that the team has too are named as there; `answer` has the team's type."""

    topic: str
    request: str
    materials: dict[str, str]
    answer: Answer | None
    letter: str


def write_request(state: ParentState) -> dict[str, Any]:
    """Return the request to the team, with its materials."""
    request = f"What does a {state['topic']} cost in Bern?"
    return {"request": request, "materials": {"prices.md": PRICES}}


def write_letter(state: ParentState) -> dict[str, Any]:
    """Return a letter around the team's answer."""
    answer = state["answer"]
    assert answer is not None, "the team has answered"
    return {"letter": f"Dear customer,\n\n{answer.text}\n\nSources: {', '.join(answer.sources)}"}


def build_parent() -> CompiledStateGraph[ParentState, Context, ParentState, ParentState]:
    """Compile the parent; a context of the team's type passes its caps to the team."""
    builder = StateGraph(ParentState, context_schema=Context)
    builder.add_node("write_request", write_request)
    builder.add_node("team", build_supervisor("research_writing_code"))
    builder.add_node("write_letter", write_letter)
    builder.add_edge(START, "write_request")
    builder.add_edge("write_request", "team")
    builder.add_edge("team", "write_letter")
    builder.add_edge("write_letter", END)
    reader = JsonPlusSerializer(allowed_msgpack_modules=[Answer])
    return builder.compile(checkpointer=InMemorySaver(serde=reader))


def run_example() -> dict[str, Any]:
    """Run the parent to the question, approve, and return its state and what was streamed."""
    parent, given = build_parent(), Context(approve_plan=True, deadline_s=60)
    config: RunnableConfig = {"configurable": {"thread_id": "one"}}
    start: Any = {"topic": "heat pump"}
    asked = parent.invoke(start, config, context=given)
    question = asked["__interrupt__"][0].value
    print(f"the team asks: {question['kind']}: {question['plan']['goal']}")

    steps = []
    for namespace, update in parent.stream(
        Command(resume="accept"), config, context=given, stream_mode="updates", subgraphs=True
    ):
        steps.append((namespace[0].partition(":")[0] if namespace else "", *update))
        print(*filter(None, steps[-1]))
    state = parent.get_state(config).values
    print(state["letter"])
    return {"question": question, "steps": steps, "state": state, "drawing": parent.get_graph()}


if __name__ == "__main__":
    run_example()
