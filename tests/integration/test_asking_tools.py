"""A tool of one's own that asks a human, in a task's first attempt."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graph import build_supervisor
from graph.settings import Settings
from tests.endpoint import Endpoint, Scenario, ScriptedTask

CONFIG: Any = {"configurable": {"thread_id": "one"}}
TOOL = '''"""Asks."""
from langchain_core.tools import tool
from langgraph.types import interrupt


@tool
def confirm(what: str) -> str:
    """Ask a human to confirm."""
    return str(interrupt({"kind": "confirm", "what": what}))
'''


@pytest.fixture
def team(tmp_path: Path) -> Path:
    folder = tmp_path / "asker"
    (folder / "tools").mkdir(parents=True)
    (folder / "tools" / "confirm.py").write_text(TOOL)
    (folder / "team.md").write_text("---\ndescription: Asks.\n---\nA task for each part.\n")
    worker = "---\ndescription: Books parts.\ntools: [confirm]\n---\nConfirm and report.\n"
    (folder / "clerk.md").write_text(worker)
    return folder


@pytest.mark.parametrize("by_id", [False, True], ids=["one answer", "by id"])
async def test_its_answer_continues_the_attempt_that_asked(
    endpoint: Endpoint, settings: Settings, team: Path, by_id: bool
) -> None:
    asking = ScriptedTask(id="a", worker="clerk", tool_calls=(("confirm", {"what": "x"}),))
    after = ScriptedTask(id="b", worker="clerk", depends_on=("a",))
    endpoint.load_scenario(Scenario(tasks=(asking, after)))
    graph = build_supervisor(team, settings=settings, checkpointer=InMemorySaver())

    await graph.ainvoke({"request": "Confirm part x, then report on it."}, CONFIG)
    (asked,) = (await graph.aget_state(CONFIG)).interrupts
    reply: Any = {asked.id: "yes"} if by_id else "yes"
    state = await graph.ainvoke(Command(resume=reply), CONFIG)

    assert asked.value == {"kind": "confirm", "what": "x"}
    assert state["status"] == "done"
    assert [call.task for call in endpoint.select_calls(schema="Report")] == ["a", "a", "b"]
