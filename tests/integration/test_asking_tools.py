"""A tool of one's own that asks a human, in a task's first attempt."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.endpoint import ScriptedTask
from tests.runs import THREAD, Runs

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
async def test_its_answer_continues_the_attempt_that_asked(runs: Runs, team: Path, by_id: bool):
    asking = ScriptedTask(id="a", worker="clerk", tool_calls=(("confirm", {"what": "x"}),))
    after = ScriptedTask(id="b", worker="clerk", depends_on=("a",))
    runs.script(asking, after)
    graph = runs.build_graph(team, checkpointer=InMemorySaver())

    await graph.ainvoke({"request": "Confirm part x, then report on it."}, THREAD)
    (asked,) = (await graph.aget_state(THREAD)).interrupts
    reply: Any = {asked.id: "yes"} if by_id else "yes"
    state = await graph.ainvoke(Command(resume=reply), THREAD)

    assert asked.value == {"kind": "confirm", "what": "x"}
    assert state["status"] == "done"
    assert [call.task for call in runs.select_calls(schema="Report")] == ["a", "a", "b"]
