"""Puts a run's open questions at the end of its stream, once.

LangGraph's last `values` part, after workers that ran beside a waiting one, contains no interrupts.
A client that shows that part, as the React hook does, would not see the question. With subgraphs
the last checkpoint is that of such a worker; a server would take the thread for idle.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage

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
