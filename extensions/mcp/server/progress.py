"""A run's progress as notifications to an MCP client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from extensions.mcp.server.caller import Caller
from graph.display.labels import format_task
from graph.display.progress import Event, RunProgress
from graph.display.text import to_one_line
from nodes.text.counts import format_count

_SHOWN_KINDS: Final = frozenset(
    (
        *("request", "plan_created", "plan_revised", "task_started", "report", "task_skipped"),
        *("synthesized", "answer"),
    )
)
_STEP: Final = 0.01
"""Each notification has a higher progress than the one before, as the protocol asks."""


class ProgressNotes:
    """Turns the events of a run into progress: how many of its tasks have ended."""

    def __init__(self) -> None:
        self._progress = RunProgress()
        self._last = 0.0

    def describe_event(self, event: Event) -> tuple[float, float | None, str] | None:
        """Return progress, total and message after an event; None for one that shows nothing."""
        self._progress.apply_event(event)
        if event.get("kind") not in _SHOWN_KINDS or event.get("within"):
            return None
        tasks = [task for task in self._progress.list_tasks() if "/" not in task.id]
        ended = sum(task.ended_at is not None for task in tasks)
        begun = sum(task.started_at is not None for task in tasks)
        reached = len(tasks) + 1 if event["kind"] == "answer" else (ended + begun) / 2
        self._last = max(reached, self._last + _STEP)
        total = float(len(tasks) + 1) if tasks else None  # the answer is one more
        message = f"{_describe(event)}, {ended} of {format_count(len(tasks), 'task')} ended"
        return self._last, total, message if tasks else _describe(event)


def _describe(event: Event) -> str:
    kind, worker = str(event["kind"]), str(event.get("worker") or "")
    if task := str(event.get("task") or ""):
        what = {"task_started": "started", "task_skipped": "skipped", "report": "ended"}
        return to_one_line(f"{format_task(task, worker)} {what.get(kind, kind)}", 200)
    names = {
        "request": "planning",
        "plan_created": "planned",
        "plan_revised": "plan revised",
        "synthesized": "answering",
    }
    return names.get(kind, to_one_line(event.get("status") or kind))


class RunReport:
    """Sends a run's thread and progress to the client, in the order of the run's events."""

    def __init__(self, caller: Caller, thread: str) -> None:
        self._caller, self._thread = caller, thread
        self._notes = ProgressNotes()
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
            if not self.has_begun and event.get("kind") != "reading":
                self.has_begun = True
                await self._caller.send_log("info", f"thread {self._thread}")
            if described := self._notes.describe_event(event):
                await self._caller.send_progress(*described)
