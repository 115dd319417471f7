"""What is sent to the client of a request: lines for its log, a run's progress, and questions."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, get_args

import anyio
from mcp import types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import McpError

from extensions.mcp.server.tools import Question, format_question_text
from graph.display.labels import format_task
from graph.display.text import to_one_line
from graph.runs.event_log import Event
from graph.runs.run_view import RunView
from nodes.text.counts import format_count

_ENDED_CONNECTION: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError)
_LEVELS: Final = get_args(types.LoggingLevel)
_ROOTS_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True)
class Caller:
    """A request, and what can be sent to its client; a connection that has ended gets nothing."""

    session: ServerSession
    request_id: str
    progress_token: str | int | None
    log_level: types.LoggingLevel = "info"
    """The least level of lines that the client wants in its log."""

    async def send_log(
        self, level: types.LoggingLevel, text: str, *, is_cancelled: bool = False
    ) -> None:
        """Send a line for the client's log, also while its request is being cancelled."""
        if _LEVELS.index(level) < _LEVELS.index(self.log_level):
            return
        # The stream of a request that is cancelled has ended.
        related = None if is_cancelled else self.request_id
        with suppress(*_ENDED_CONNECTION), anyio.CancelScope(shield=True), anyio.move_on_after(1):
            await self.session.send_log_message(level, text, "supervise", related)

    async def send_progress(self, progress: float, total: float | None, message: str) -> None:
        """Send how far a run is, if the client asked for it."""
        if self.progress_token is not None:
            with suppress(*_ENDED_CONNECTION):
                await self.session.send_progress_notification(
                    self.progress_token, progress, total, message, self.request_id
                )

    async def list_roots(self) -> list[str]:
        """Return the addresses of the client's roots; none where it declares none."""
        asked = types.ClientCapabilities(roots=types.RootsCapability())
        if not self.session.check_client_capability(asked):
            return []
        try:
            with anyio.fail_after(_ROOTS_TIMEOUT_S):
                return [str(root.uri) for root in (await self.session.list_roots()).roots]
        except (TimeoutError, McpError):
            return []


_SHOWN_KINDS: Final = frozenset(
    (
        *("request", "plan_created", "plan_revised", "task_started", "report", "task_skipped"),
        *("synthesized", "answer"),
    )
)
_STEP: Final = 0.01
"""Each notification has a higher progress than the one before, as the protocol asks."""


class RunReport:
    """Sends a run's thread and progress to the client, in the order of the run's events."""

    def __init__(self, caller: Caller, thread: str) -> None:
        self._caller, self._thread = caller, thread
        self._progress, self._last = RunView(), 0.0
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self.has_begun = False
        """Whether the run has an event, and so can be resumed."""

    def note_event(self, event: Event) -> None:
        """Take an event of the run, from any thread."""
        self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    @asynccontextmanager
    async def send_events(self) -> AsyncIterator[None]:
        """Send what is noted while the block runs, and the rest at its end."""
        sender = asyncio.create_task(self._send_all())
        try:
            yield
            self._loop.call_soon(self._events.put_nowait, None)
            await sender
        finally:
            sender.cancel()

    async def _send_all(self) -> None:
        while event := await self._events.get():
            if not self.has_begun and event.get("kind") not in ("reading", "not_read"):
                self.has_begun = True
                await self._caller.send_log("info", f"thread {self._thread}")
            self._progress.apply_event(event)
            if event.get("kind") in _SHOWN_KINDS and not event.get("within"):
                await self._caller.send_progress(*self._describe_event(event))

    def _describe_event(self, event: Event) -> tuple[float, float | None, str]:
        """Return progress, total and message: how many of the run's tasks have ended."""
        message, kind = self._progress.phase, event["kind"]
        if task := str(event.get("task") or ""):
            what = {"task_started": "started", "task_skipped": "skipped"}.get(kind, "ended")
            message = to_one_line(
                f"{format_task(task, str(event.get('worker') or ''))} {what}", 200
            )
        tasks = [task for task in self._progress.list_tasks() if "/" not in task.id]
        ended = sum(task.ended_s is not None for task in tasks)
        begun = sum(bool(task.attempts) for task in tasks)
        reached = len(tasks) + 1 if kind == "answer" else (ended + begun) / 2
        self._last = max(reached, self._last + _STEP)
        if not tasks:
            return self._last, None, message
        message += f", {ended} of {format_count(len(tasks), 'task')} ended"
        return self._last, float(len(tasks) + 1), message  # the answer is one more


MAX_WAIT_S: Final = 600.0
"""For a user's reply; after it the call returns, and the question stays open."""
_DECISION_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Decision", "enum": ["accept", "reject"]},
        "reason": {"type": "string", "title": "Why it is rejected"},
    },
    "required": ["decision"],
}
_ANSWER_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer"}},
    "required": ["answer"],
}


async def ask_user(caller: Caller, questions: Sequence[Question]) -> str | None:
    """Return the user's reply to the first question as `aresume` takes it.

    None without a question or a reply, and where the client cannot show a form to its user.
    """
    can_ask = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    if not questions or not caller.session.check_client_capability(can_ask):
        return None
    question = questions[0]
    is_decision = question.get("kind") in ("plan", "tool_call")
    try:
        with anyio.fail_after(MAX_WAIT_S):
            said = await caller.session.elicit_form(
                format_question_text(question),
                _DECISION_FORM if is_decision else _ANSWER_FORM,
                related_request_id=caller.request_id,
            )
    except (TimeoutError, McpError):  # also a client that cannot show this form after all
        return None
    if said.action == "decline" and question.get("kind") == "tool_call":
        # Left open, the calling model could approve what its user has just refused.
        return json.dumps({question["id"]: "reject: the user declined it"})
    content = (said.content if said.action == "accept" else None) or {}
    reply = _read_decision(content) if is_decision else str(content.get("answer") or "").strip()
    # A reply to the only plan is no object by task, since an edited plan is an object.
    is_bare = not reply or (len(questions) == 1 and question.get("kind") == "plan")
    return (reply or None) if is_bare else json.dumps({question["id"]: reply})


def _read_decision(content: Mapping[str, Any]) -> str:
    """Return a decision in words; empty where the form has none."""
    if content.get("decision") == "accept":
        return "accept"
    reason = str(content.get("reason") or "").strip() or "the user does not want this"
    return f"reject: {reason}" if content.get("decision") == "reject" else ""
