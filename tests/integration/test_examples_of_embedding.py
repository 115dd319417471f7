"""The examples of `examples/embedding`: a team inside other people's programs."""

from pathlib import Path

import pytest
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener

from examples.embedding import node_in_a_graph, own_tools_and_models, tool_of_an_agent
from graph import resume
from nodes.errors import SettingsInvalid
from state import Answer

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_node_asks_in_the_parent_and_shares_its_keys():
    events: list[SerdeEvent] = []
    stop_listening = register_serde_event_listener(events.append)
    seen = node_in_a_graph.run_example()
    stop_listening()

    assert seen["question"]["kind"] == "plan" and "approve" in str(seen["question"])
    assert ("team", "supervisor") in seen["steps"] and ("", "write_letter") in seen["steps"]
    assert any(step[0] == "team" and "synthesizer" in step for step in seen["steps"])
    state = seen["state"]
    assert isinstance(state["answer"], Answer) and state["answer"].sources == ("prices.md",)
    assert "9000 EUR" in state["letter"] and state["messages"][-1].type == "ai"
    assert "team" in seen["drawing"].draw_mermaid()
    assert not [event for event in events if event["module"] == "state"], "no warning is printed"


async def test_an_agent_asks_a_team_as_a_tool():
    messages = await tool_of_an_agent.run_example()

    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    assert "9000 EUR" in messages[2].text and "sources: prices.md" in messages[2].text


def test_tools_and_models_of_a_program_do_the_work():
    outcome = own_tools_and_models.run_example()

    assert outcome.status == "done" and outcome.answer
    assert "3 pieces of heat pump are in stock" in outcome.answer.text
    again = resume(outcome.thread, tools=own_tools_and_models.TOOLS)
    assert again.answer == outcome.answer
    with pytest.raises(SettingsInvalid):
        resume(outcome.thread, tools={"other": own_tools_and_models.count_stock})
