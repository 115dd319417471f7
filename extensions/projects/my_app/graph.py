"""A graph of your own around the team: it asks the team, and writes a letter with the answer."""

from pathlib import Path
from typing import TypedDict

from langgraph.graph import END, START, StateGraph

from supervisor_worker import build_supervisor

TEAM = Path(__file__).parent / "teams" / "my_app"
MATERIALS = {path.name: path.read_text("utf-8") for path in (TEAM / "sample").glob("*.md")}

team = build_supervisor(TEAM)


class State(TypedDict, total=False):
    """What goes in, and what comes out."""

    question: str
    letter: str
    gaps: list[str]


async def ask_team(state: State) -> State:
    """Return a letter with the team's answer, and what it could not find."""
    ended = await team.ainvoke({"request": state["question"], "materials": MATERIALS})
    answer = ended["answer"]
    return {"letter": f"Dear customer,\n\n{answer.text}", "gaps": [str(gap) for gap in answer.gaps]}


builder = StateGraph(State)
builder.add_node("ask_team", ask_team)
builder.add_edge(START, "ask_team")
builder.add_edge("ask_team", END)
graph = builder.compile()
