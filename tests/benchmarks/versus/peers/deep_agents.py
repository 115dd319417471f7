"""deepagents: a lead that calls its subagents with the tool `task`, several in one turn."""

from typing import Any

from deepagents import create_deep_agent
from langchain_openai import ChatOpenAI

from tests.benchmarks.versus.peers.langchain_parts import TOOLS, make_retries, run_with
from tests.benchmarks.versus.peers.serve import serve
from tests.benchmarks.versus.work import INSTRUCTIONS, LEAD_INSTRUCTIONS, WORKERS


def build(model: ChatOpenAI, saver: Any) -> Any:
    """Build the lead and its two subagents."""
    subagents = [
        {
            "name": name,
            "description": description,
            "system_prompt": INSTRUCTIONS,
            "tools": TOOLS if name == "reader" else [],
            "middleware": make_retries(),
        }
        for name, description in WORKERS.items()
    ]
    return create_deep_agent(
        model,
        system_prompt=LEAD_INSTRUCTIONS,
        subagents=subagents,
        middleware=make_retries(),
        checkpointer=saver,
    )


if __name__ == "__main__":
    serve(run_with(build), "deepagents", "langchain", "langgraph", "langchain-openai")
