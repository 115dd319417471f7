"""Turns what a remote worker asks a human into our questions, and the replies into its answers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langgraph.types import interrupt

from extensions.remote.session import RemoteQuestion
from nodes.human.reply import Decision
from nodes.human.request import (
    ask,
    ask_until_clear,
    build_question_request,
    build_tool_request,
)
from nodes.limits.nesting import is_nested_too_deeply, parse_json
from nodes.text.plain_text import sanitize_line, sanitize_text

MAX_QUESTION_CHARS: Final = 4_000
MAX_ACTIONS: Final = 20
MAX_NAME_CHARS: Final = 80
MAX_ARGS_CHARS: Final = 20_000
"""Limit for the arguments of an action; with more it is no action that a human can approve."""
TOO_DEEP: Final = "(nested too deeply to be shown)"
REMOTE_PREFIX: Final = "remote:"
"""Begins the name of another server's action, which may not look like that of a tool here."""


@dataclass(kw_only=True)
class HumanQuestions:
    """Asks a human for a remote worker; the run waits, and the step runs again with the reply."""

    task: str
    """Its path."""
    worker: str
    asked_s: float = 0.0
    """Seconds from the run's start, by which open questions are ordered."""
    asked: int = 0
    """How often the run was interrupted in this attempt, unclear replies included."""

    def skip(self, answered: int) -> None:
        """Take the replies that an earlier pass of the step has sent to the far side already."""
        while self.asked < answered:
            self.asked += 1
            text = f"{self.worker} has this answer already; any reply continues"
            interrupt(build_question_request(text, task=self.task, worker=self.worker))

    def ask(self, question: RemoteQuestion) -> Any:
        """Return the reply to send; the run is interrupted until a human gives it."""
        actions = read_actions(question.value)
        if actions:
            return {"decisions": [self._decide(name, args, said) for name, args, said in actions]}
        text = f"{self.worker} asks: {describe_question(question.value)}"
        decision = ask_until_clear(
            build_question_request(text, task=self.task, worker=self.worker, asked_s=self.asked_s),
            self._ask,
        )
        if decision.kind != "respond":
            reason = f": {decision.message}" if decision.message else ""
            return f"(the human declined to answer{reason})"
        return _read_json(decision.message)

    def _decide(self, name: str, args: Mapping[str, Any], said: str) -> dict[str, Any]:
        request = build_tool_request(
            f"{REMOTE_PREFIX}{name}",
            args,
            task=self.task,
            worker=self.worker,
            description=f"{self.worker} asks from another server: {said or name}",
        )
        decision = ask_until_clear(request, self._ask)
        if decision.kind == "edit":
            return {"type": "edit", "edited_action": {"name": name, "args": decision.args or {}}}
        if decision.kind == "approve":
            return {"type": "approve"}
        return {"type": "reject", "message": decision.message}

    def _ask(self, request: Mapping[str, Any]) -> Decision:
        decision = ask(request)
        self.asked += 1
        return decision


def read_actions(value: Any) -> Sequence[tuple[str, Mapping[str, Any], str]]:
    """Return the actions that a HITLRequest asks about: name, arguments, description.

    A question of a graph of ours has this form too, but is answered in words: none.
    """
    if not isinstance(value, Mapping) or value.get("kind") == "question":
        return ()
    actions = value.get("action_requests")
    if not isinstance(actions, list) or len(actions) > MAX_ACTIONS:
        return ()
    read = [_read_action(each) for each in actions if isinstance(each, Mapping)]
    fits = all(
        not is_nested_too_deeply(args) and len(_dump(args)) <= MAX_ARGS_CHARS for _, args, _ in read
    )
    return read if fits and len(read) == len(actions) else ()


def describe_question(value: Any) -> str:
    """Return what the far side asks, in words where it has some, else as JSON."""
    said = value
    if isinstance(value, Mapping):
        texts = (value.get(key) for key in ("question", "description", "message", "text"))
        said = next((text for text in texts if isinstance(text, str) and text.strip()), value)
    text = said if isinstance(said, str) else _dump(said)
    return sanitize_text(text[: 2 * MAX_QUESTION_CHARS])[:MAX_QUESTION_CHARS]


def _dump(value: Any) -> str:
    if is_nested_too_deeply(value):
        return TOO_DEEP
    return json.dumps(value, ensure_ascii=False, default=str)


def _read_action(action: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], str]:
    name = sanitize_line(str(action.get("name") or "action"), MAX_NAME_CHARS)
    args = action.get("args")
    said = action.get("description")
    return name, args if isinstance(args, Mapping) else {}, said if isinstance(said, str) else ""


def _read_json(text: str) -> Any:
    """Return an answer as JSON where it is an object or a list, which some graphs expect."""
    try:
        return parse_json(text) if text.startswith(("{", "[")) else text
    except ValueError:
        return text
