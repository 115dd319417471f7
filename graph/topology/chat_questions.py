"""Puts a run's open questions at the end of its stream, once, and into its chat.

LangGraph's last `values` part, after workers that ran beside a waiting one, contains no interrupts.
A client that shows that part, as the React hook does, would not see the question. With subgraphs
the last checkpoint is that of such a worker; a server would take the thread for idle.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import StateSnapshot

from graph.topology.answers import list_open_questions
from nodes.human.request import build_question_message

INTERRUPTS: Final = "__interrupt__"
"""LangGraph's key of the interrupts in a part."""


class QuestionParts:
    """Holds a run's open questions back until its stream ends."""

    def __init__(
        self, *, stream_mode: Any = None, subgraphs: bool = False, version: str = "v1", **_: Any
    ) -> None:
        """Take the options of the stream.

        Args:
            stream_mode: a mode, several, or None for the mode of LangGraph's graphs (`updates`).
        """
        self._is_single = not isinstance(stream_mode, Sequence) or isinstance(stream_mode, str)
        self._modes = {stream_mode} if self._is_single else set(stream_mode)
        self._subgraphs, self._is_plain = subgraphs, version == "v1"
        self._last: Mapping[str, Any] = {}
        self._interrupts: dict[str, Any] = {}
        self._record: list[Any] = []

    def hold_questions(self, part: Any) -> Iterator[Any]:
        """Yield a part of the stream, unless it is one of `values` with a question, which is last.

        A server merges the questions of all parts into a run's result, so each comes once.
        """
        self._keep_record(part)
        values = self._find_values(part)
        if values is not None:
            self._last = {name: value for name, value in values.items() if name != INTERRUPTS}
            self._interrupts |= {each.id: each for each in values.get(INTERRUPTS, ())}
        if values is None or not values.get(INTERRUPTS):
            yield part

    def build_last_parts(self, questions: Sequence[AIMessage]) -> Iterator[Any]:
        """Yield the parts for open questions, and for their messages, after those of the run."""
        if not self._is_plain:
            return
        if len(self._record) > 1:
            yield from self._record
        if questions and "messages" in self._modes:
            for message in questions:
                yield self._build_part("messages", (message, {"langgraph_node": "ask_human"}))
        if self._interrupts:
            values = {**self._last, INTERRUPTS: tuple(self._interrupts.values())}
            if "messages" in values:
                values["messages"] = [*values["messages"], *questions]
            yield self._build_part("values", values)

    def _keep_record(self, part: Any) -> None:
        """Keep the run's own last checkpoint and its questions, in a stream with the workers'."""
        is_placed = self._is_plain and self._subgraphs and not self._is_single
        if not is_placed or part[:2] != ((), "debug"):
            return
        kind, payload = part[2]["type"], part[2]["payload"]
        if kind == "checkpoint":
            tasks = [dict(task) for task in payload["tasks"]]  # a server changes them
            payload = {**payload, "tasks": tasks}
            self._record = [self._build_part("debug", {**part[2], "payload": payload})]
        elif kind == "task_result" and payload["interrupts"]:
            self._record.append(part)

    def _find_values(self, part: Any) -> Mapping[str, Any] | None:
        """Return the values of the run that a part contains; None for any other part."""
        if not self._is_plain or "values" not in self._modes:
            return None
        if not isinstance(part, tuple):
            return part if isinstance(part, Mapping) else None
        *place, values = part
        if not self._is_single and place[-1] != "values":
            return None
        is_outer = not (self._subgraphs and place[0])
        return values if is_outer and isinstance(values, Mapping) else None

    def _build_part(self, mode: str, content: Any) -> Any:
        place: list[Any] = [
            *([()] if self._subgraphs else []),
            *([] if self._is_single else [mode]),
        ]
        return (*place, content) if place else content


COMMAND_TASK_ID: Final = "00000000-0000-0000-0000-000000000000"
"""LangGraph's id for writes that no task has made."""
_SPECIAL_PREFIX: Final = "__"
"""Of channels of LangGraph's own, which a saver keeps in places of their own."""


async def post_questions(
    snapshot: StateSnapshot, saver: BaseCheckpointSaver[Any]
) -> list[AIMessage]:
    """Save a message for each open question that the chat does not contain; return them.

    A node that waits has returned nothing, so its question is saved beside what it will return, as
    LangGraph saves the update of a `Command`: a reader of the state applies it, as a resume does.
    """
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
