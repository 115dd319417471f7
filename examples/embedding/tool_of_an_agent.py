"""A team as a tool of an agent of `langchain.agents.create_agent`.

    python -m examples.embedding.tool_of_an_agent

The agent's model follows a script here; yours decides itself when it asks the team.
"""

from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AnyMessage, ToolCall
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, tool

from supervisor_worker import build_supervisor

TEAM = build_supervisor("research_writing_code")
PRICES = "# Heat pumps\n\nA heat pump moves heat. It costs 9000 EUR in Bern.\n"
CALL = ToolCall(name="ask_researchers", args={"question": "What does a heat pump cost?"}, id="1")


@tool
async def ask_researchers(question: str) -> str:
    """Answer a question from the price list, with sources."""
    given: Any = {"request": question, "materials": {"prices.md": PRICES}}
    state = await TEAM.ainvoke(given, context={"deadline_s": 60})
    answer = state["answer"]
    parts = [answer.text, f"Sources: {', '.join(answer.sources)}"]
    if answer.confidence is not None:  # nobody judges without a language model
        parts.append(f"Confidence: {answer.confidence}")
    return "\n\n".join(parts)


class AgentModel(GenericFakeChatModel):
    """Calls the team once, then says a sentence."""

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model, whose script knows its tools."""
        return self


async def run_example() -> list[AnyMessage]:
    """Run the agent, and return its messages."""
    script = iter([AIMessage("", tool_calls=[CALL]), AIMessage("It costs 9000 EUR.")])
    agent = create_agent(AgentModel(messages=script), [ask_researchers])
    given: Any = {"messages": [("user", "Is a heat pump dear?")]}
    ended = await agent.ainvoke(given)
    messages: list[AnyMessage] = ended["messages"]
    for message in messages:
        print(f"{message.type}: {message.text}")
    return messages


if __name__ == "__main__":
    import asyncio

    asyncio.run(run_example())
