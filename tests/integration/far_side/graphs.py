"""Graphs of another application, for LangGraph's server: nothing here is ours.

Each call is noted in a file, so that a test can count them. A graph that waits does so until a
file exists.
"""

import asyncio
import os
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt

PLACE = Path(os.environ.get("FAR_SIDE", "."))


async def _note(name: str) -> None:
    def write() -> None:
        with (PLACE / "calls.log").open("a") as log:
            log.write(f"{name}\n")

    await asyncio.to_thread(write)


def _say(text: str) -> dict[str, Any]:
    return {"messages": [AIMessage(text)]}


async def _echo(state: MessagesState) -> dict[str, Any]:
    await _note("echo")
    return _say(f"The far side read: {state['messages'][-1].text}")


async def _wait(state: MessagesState) -> dict[str, Any]:
    await _note("wait began")
    while not await asyncio.to_thread((PLACE / "go").exists):  # noqa: ASYNC110  # another process
        await asyncio.sleep(0.05)
    await _note("wait ended")
    return _say("The far side waited, and 42 is the number.")


async def _ask(state: MessagesState) -> dict[str, Any]:
    colour = interrupt({"question": "Which colour?"})
    size = interrupt("Which size?")
    await _note(f"answered {colour} {size}")
    return _say(f"It is {colour} and {size}.")


async def _approve(state: MessagesState) -> dict[str, Any]:
    names = ("book_hotel", "book_flight")
    said = interrupt(
        {
            "action_requests": [
                {"name": name, "args": {"city": "Rome"}, "description": f"May I {name}?"}
                for name in names
            ],
            "review_configs": [
                {"action_name": name, "allowed_decisions": ["approve", "edit", "reject"]}
                for name in names
            ],
        }
    )
    await _note("approved")
    return _say(f"decisions: {said['decisions']}")


async def _fail(state: MessagesState) -> dict[str, Any]:
    await _note("fail")
    raise RuntimeError("the far side broke at step 3")


def _build(step: Any) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("work", step)
    builder.add_edge(START, "work")
    builder.add_edge("work", END)
    return builder.compile()


echo, wait, ask, approve, fail = map(_build, (_echo, _wait, _ask, _approve, _fail))
