"""langgraph-supervisor: handoffs with a description of the task, several in one turn.

The handoff tool is the one of LangGraph's tutorial on supervisors: a `Send` with the task alone.
"""

from typing import Annotated, Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import InjectedState
from langgraph.types import Command, Send
from langgraph_supervisor import create_supervisor
from langgraph_supervisor.handoff import METADATA_KEY_HANDOFF_DESTINATION

from tests.benchmarks.versus.peers.langchain_parts import TOOLS, make_retries, run_with
from tests.benchmarks.versus.peers.serve import serve
from tests.benchmarks.versus.work import INSTRUCTIONS, LEAD_INSTRUCTIONS, WORKERS


def make_handoff(name: str, description: str) -> BaseTool:
    """Make the tool that hands a described task to a worker."""

    @tool(f"transfer_to_{name}", description=f"Assign a task to {name}. {description}")
    def hand_over(
        task_description: Annotated[str, "What the agent should do, with all it needs for it."],
        state: Annotated[dict[str, Any], InjectedState],
    ) -> Command[Any]:
        given = {**state, "messages": [{"role": "user", "content": task_description}]}
        return Command(goto=[Send(name, given)], graph=Command.PARENT)

    hand_over.metadata = {METADATA_KEY_HANDOFF_DESTINATION: name}
    return hand_over


def build(model: ChatOpenAI, saver: Any) -> Any:
    """Build the supervisor and its two agents."""
    agents = [
        create_agent(
            model,
            tools=TOOLS if name == "reader" else [],
            system_prompt=INSTRUCTIONS,
            middleware=make_retries(),
            name=name,
        )
        for name in WORKERS
    ]
    return create_supervisor(
        agents,
        model=model,
        tools=[make_handoff(name, words) for name, words in WORKERS.items()],
        prompt=LEAD_INSTRUCTIONS,
        parallel_tool_calls=True,
    ).compile(checkpointer=saver)


if __name__ == "__main__":
    serve(run_with(build), "langgraph-supervisor", "langchain", "langgraph", "langchain-openai")
