"""Resumes a run of a server, or follows one that is at work there."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final
from uuid import UUID

from pydantic import ValidationError

from extensions.server.run_connection import (
    RunServer,
    ServerError,
    ServerThreadForeign,
    ServerUnreadable,
    open_server,
)
from extensions.server.runs import CheckedEntries, ServerLog, load_server_log
from extensions.server.trace_writer import NAMESPACE
from graph.runs.event_log import FORM_ERRORS, Event, EventListener
from graph.runs.outcome import Outcome
from graph.settings import Settings
from graph.topology.answers import assign_answer
from graph.topology.input_validation import read_context
from graph.topology.run_start import CONTINUE_KEY
from nodes.errors import ThreadBusy
from nodes.text.plain_text import sanitize_line
from state import COMPLETE_STATUSES, Answer, Context, Plan, Report, RunUsage

LISTED_RUNS: Final = 10
POLL_S: Final = 0.5
WORKING: Final = ("pending", "running")
ENDED_WELL: Final = ("success", "interrupted")
MAX_CAUSE_CHARS: Final = 500


class ServerRunFailed(ServerError):
    """A run of a server ended with an error."""

    exit_code = 3


@dataclass(frozen=True)
class _ServerThread:
    """A thread of a server, and what is known of its last run."""

    server: RunServer
    id: str
    log: ServerLog

    @property
    def name(self) -> str:
        """The thread as commands name it."""
        return f"{self.id} --url {self.server.spec.url}"


async def aresume_on_server(
    thread: str,
    url: str,
    *,
    answer: str | None = None,
    context: Context | Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    on_event: EventListener | None = None,
    seen: int | None = None,
) -> Outcome:
    """Resume a thread of a server, or follow its run that is at work, to the outcome.

    The run continues on the server when this call is cancelled. For a thread that is done, its
    outcome is returned again.

    Args:
        answer: to the thread's open question; with several open, JSON keyed by task.
        context: settings of the run to change; deadline and budget restart.
        on_event: called with each event soon after the server has kept it; one that cannot be
            read is left out.
        seen: lines of the trace that the caller has read before; without it only what happens from
            now on is heard.

    Raises:
        SettingsInvalid: a setting of the context cannot be used.
        ServerThreadUnknown, ServerThreadForeign: the server shows no such thread, or it is none of
            a team.
        NoOpenQuestion, AnswerUnclear: `answer` cannot be assigned to one open question.
        ThreadBusy: an answer was given for a run that is at work.
        ServerError: the server cannot be used.
    """
    given = read_context(context)
    async with open_server(url, settings or Settings()) as server:
        held = await _load(server, thread)
        run = await _start(held, answer, given)
        error = None
        if run:
            error = await _follow(
                held, run, on_event, held.log.line_count if seen is None else seen
            )
            held = await _load(server, thread)
        return await _build_outcome(held, error)


async def _load(server: RunServer, thread: str) -> _ServerThread:
    log = await load_server_log(server, thread)
    is_waiting = log.run["status"] == "running"  # in the queue it has no request yet
    if not log.graph or not (log.run["request"] or is_waiting):
        raise ServerThreadForeign(f"thread {thread!r} of {server.host} holds no run")
    return _ServerThread(server, thread, log)


async def _start(held: _ServerThread, answer: str | None, context: Context) -> str:
    """Start what continues the run, and return its id; empty if there is nothing to do."""
    status, questions = held.log.run["status"], held.log.run["questions"]
    if status == "running":
        if answer is not None:
            raise ThreadBusy(
                f"thread {held.id!r} is at work on {held.server.host}",
                kept="the answer was not sent",
                next=f"supervise resume {held.name} follows it",
            )
        return await _find_working_run(held)
    if answer is not None:
        command = {"resume": assign_answer(answer, questions)}
        return await _create(held, {"command": command}, context)
    if questions or status in COMPLETE_STATUSES:
        return ""
    return await _create(held, {"input": {CONTINUE_KEY: True}}, context)


async def _find_working_run(held: _ServerThread) -> str:
    with held.server.translate():
        runs = await held.server.client.runs.list(held.id, limit=LISTED_RUNS)
        working = [run for run in runs if run["status"] in WORKING]
        return str(
            min(working, key=lambda run: str(run["created_at"]))["run_id"] if working else ""
        )


async def _create(held: _ServerThread, what: Mapping[str, Any], context: Context) -> str:
    changed = {
        each.name: getattr(context, each.name)
        for each in fields(context)
        if getattr(context, each.name) != each.default
    }
    with held.server.translate():
        run = await held.server.client.runs.create(
            held.id,
            held.log.graph,
            **what,
            context=changed or None,
            stream_mode=["custom"],
            stream_resumable=True,
            multitask_strategy="reject",
        )
        return str(run["run_id"])


async def _follow(
    held: _ServerThread, run: str, on_event: EventListener | None, seen: int
) -> ServerRunFailed | None:
    """Follow a run by the trace that the server keeps; return the error with which it ended."""
    cause = ""
    while True:
        with held.server.translate():
            status = str((await held.server.client.runs.get(held.id, run))["status"])
        view = await held.server.load_view(held.id, NAMESPACE, str(UUID(int=seen)))
        lines = view.get("lines")
        checked = CheckedEntries()
        checked.add_lines(lines if isinstance(lines, list) else [])
        seen += len(checked.entries) + checked.unreadable
        for event in (entry for entry in checked.entries if "kind" in entry):
            cause = _read_cause(event) or cause
            if on_event:
                _tell(on_event, event)
        if status not in WORKING and not checked.entries:
            break
        await asyncio.sleep(POLL_S)
    if status in ENDED_WELL:
        return None
    return ServerRunFailed(
        f"the run ended there as {status[:20]!r}",
        cause=sanitize_line(cause, MAX_CAUSE_CHARS),
        kept=f"thread {held.id}",
        next=f"supervise resume {held.name}",
    )


def _read_cause(event: Event) -> str:
    """Return what an error event says that may have ended the run."""
    is_end = event["kind"] == "error" and not event.get("within") and event.get("state") != "cut"
    return f"{event.get('code')}: {event.get('message')}" if is_end else ""


def _tell(on_event: EventListener, event: Event) -> None:
    try:
        on_event(event)
    except FORM_ERRORS:
        return  # values of another version, which the listener cannot show


async def _build_outcome(held: _ServerThread, error: ServerRunFailed | None) -> Outcome:
    """Build the outcome from the thread's state."""
    with held.server.translate():
        state: Mapping[str, Any] = {**await held.server.client.threads.get_state(held.id)}
        values = dict(state["values"])
    status = held.log.run["status"]
    try:
        results = {
            str(name): Report.model_validate(report)
            for name, report in dict(values.get("results") or {}).items()
        }
        return Outcome(
            thread=held.id,
            status="failed" if error or status == "stopped" else status,
            answer=Answer.model_validate(values["answer"]) if values.get("answer") else None,
            plan=Plan.model_validate(values["plan"]) if values.get("plan") else None,
            results=results,
            timing=dict(values.get("timing") or {}),
            usage=RunUsage.model_validate(values.get("usage") or {}),
            error=error,
            questions=held.log.run["questions"],
        )
    except (ValidationError, ValueError, TypeError) as problem:
        raise ServerUnreadable(
            f"the state of thread {held.id!r} cannot be read",
            cause=f"{type(problem).__name__}",
            next="is the server's version that of this command?",
        ) from None
