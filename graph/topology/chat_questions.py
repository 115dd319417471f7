"""Puts the open questions of a run into its chat, where clients that show only the chat see them.

A node that waits has returned nothing, so its question is saved beside what it will return, as
LangGraph saves the update of a `Command`: a reader of the state applies it, and so does a resume.
"""

from typing import Any, Final

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import StateSnapshot

from graph.topology.answers import list_open_questions
from nodes.human.messages import build_question_message

COMMAND_TASK_ID: Final = "00000000-0000-0000-0000-000000000000"
"""LangGraph's id for writes that no task has made."""
_SPECIAL_PREFIX: Final = "__"
"""Of channels of LangGraph's own, which a saver keeps in places of their own."""


async def post_questions(
    snapshot: StateSnapshot, saver: BaseCheckpointSaver[Any]
) -> list[AIMessage]:
    """Save a message for each open question that the chat does not contain; return them."""
    known = {message.id for message in snapshot.values.get("messages", [])}
    values = {each.id: each.value for each in snapshot.interrupts}
    ordered = (question["id"] for question in list_open_questions(snapshot))
    asked = [build_question_message(name, values[name]) for name in ordered]
    messages = [message for message in asked if message and message.id not in known]
    if messages:
        await _save_messages(messages, snapshot.config, saver)
    return messages


async def _save_messages(
    messages: list[AIMessage], config: RunnableConfig, saver: BaseCheckpointSaver[Any]
) -> None:
    """Append messages to the writes of no task; a saver identifies a write by its position."""
    saved = await saver.aget_tuple(config)
    earlier = [
        (channel, value)
        for task, channel, value in (saved and saved.pending_writes) or ()
        if task == COMMAND_TASK_ID and not channel.startswith(_SPECIAL_PREFIX)
    ]
    await saver.aput_writes(config, [*earlier, ("messages", messages)], COMMAND_TASK_ID)
