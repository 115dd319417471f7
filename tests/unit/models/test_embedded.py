"""The embedded model, driven with the prompts that the application really sends."""

from functools import reduce
from operator import add

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from nodes.models.embedded import EmbeddedModel
from nodes.prompts import messages as prompts
from state import Plan
from tests.unit.models.embedded_runs import (
    MATERIALS,
    MISSION,
    TEAM,
)


def test_says_what_it_is_when_no_tool_is_offered() -> None:
    reply = EmbeddedModel().invoke([SystemMessage("Be nice."), HumanMessage("Hello")])

    assert "embedded model" in reply.text
    assert "OPENAI_API_KEY" in reply.text
    assert reply.usage_metadata is not None


async def test_answers_alike_streamed_or_whole_again_and_again() -> None:
    messages = prompts.build_plan_messages(TEAM, MISSION, MATERIALS, max_tasks=8)
    model = EmbeddedModel().bind_tools([Plan], tool_choice="Plan")

    whole = [await model.ainvoke(messages), model.invoke(messages)]
    chunks = [chunk async for chunk in model.astream(messages)]
    streamed = reduce(add, chunks)

    assert isinstance(streamed, AIMessage)
    assert whole[0].tool_calls == whole[1].tool_calls == streamed.tool_calls
    assert streamed.usage_metadata == whole[0].usage_metadata
    assert streamed.response_metadata["finish_reason"] == "tool_calls"
