"""The embedded model as a chat model: the interface of all others."""

from functools import reduce
from operator import add
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_tests.unit_tests import ChatModelUnitTests

from extensions.embedded.model import EmbeddedModel
from nodes.schemas.handoff import PlanningValues, lay_beside
from state import Plan
from tests.unit.extensions.embedded.embedded_runs import make_team


class TestEmbeddedUnit(ChatModelUnitTests):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return EmbeddedModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {}


def test_says_what_it_is_when_no_tool_is_offered() -> None:
    reply = EmbeddedModel().invoke([SystemMessage("Be nice."), HumanMessage("Hello")])

    assert "built-in embedded model" in reply.text
    assert "OPENAI_API_KEY" in reply.text
    assert reply.usage_metadata is not None


async def test_answers_alike_streamed_or_whole_again_and_again() -> None:
    messages = [HumanMessage("Bake bread")]
    model = EmbeddedModel().bind_tools([Plan], tool_choice="Plan")

    with lay_beside(PlanningValues(make_team({"baker": "Bakes bread."}), "Bake bread")):
        whole = [await model.ainvoke(messages), model.invoke(messages)]
        chunks = [chunk async for chunk in model.astream(messages)]
    streamed = reduce(add, chunks)

    assert isinstance(streamed, AIMessage)
    assert whole[0].tool_calls[0]["args"]["tasks"][0]["worker"] == "baker"
    assert whole[0].tool_calls == whole[1].tool_calls == streamed.tool_calls
    assert streamed.usage_metadata == whole[0].usage_metadata
    assert streamed.response_metadata["finish_reason"] == "tool_calls"
