"""LangChain's `create_agent`: one agent with all tools, which calls them in parallel."""

from typing import Any

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from tests.benchmarks.versus.peers.langchain_parts import TOOLS, make_retries, run_with
from tests.benchmarks.versus.peers.serve import serve
from tests.benchmarks.versus.work import INSTRUCTIONS


def build(model: ChatOpenAI, saver: Any) -> Any:
    """Build the agent."""
    return create_agent(
        model,
        tools=TOOLS,
        system_prompt=INSTRUCTIONS,
        middleware=make_retries(),
        checkpointer=saver,
    )


if __name__ == "__main__":
    serve(run_with(build), "langchain", "langgraph", "langchain-openai")
