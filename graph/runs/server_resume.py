"""Resumes a run of a server, or follows one that is at work there."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from pydantic import ValidationError

from graph.runs.event_log import Event, EventListener
from graph.runs.outcome import Outcome
from graph.runs.questions import build_answer_command
from graph.runs.server_connection import (
    RunServer,
    ServerError,
    ServerThreadForeign,
    ServerUnreadable,
    open_server,
)
from graph.runs.server_entries import check_event
from graph.runs.server_runs import read_run
from graph.settings import Settings
from graph.topology.continuation import CONTINUE_KEY
from graph.topology.input_validation import read_context
from nodes.errors import ThreadBusy
from nodes.remote.run_stream import WORKING, RunStream
from state import Answer, Context, Plan, Report, RunUsage

LISTED_RUNS: Final = 10


class ServerRunFailed(ServerError):
    """A run of a server ended with an error."""

    code, exit_code = "SERVER_RUN_FAILED", 3


@dataclass(frozen=True)
class _RemoteThread:
    """A thread of a server, and what is known of its last run."""

    server: RunServer
    id: str
    graph: str
    run: Mapping[str, Any]


async def aresume_on_server(
    thread: str,
    url: str,
    *,
    answer: str | None = None,
    context: Context | Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    on_event: EventListener | None = None,
) -> Outcome:
    """Resume a thread of a server, or follow its run that is at work, to the outcome.

    The run continues on the server when this call is cancelled. For a thread that is done, its
    outcome is returned again.

    Args:
        answer: to the thread's open question; with several open, JSON keyed by task.
        context: settings of the run to change; deadline and budget restart.
        on_event: called with each event as the server sends it; one that cannot be read is left
            out.

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
            error = await _follow(held, run, on_event)
            held = await _load(server, thread)
        return await _build_outcome(held, error)


async def _load(server: RunServer, thread: str) -> _RemoteThread:
    known = await server.load_thread(thread)
    metadata = known.get("metadata")
    graph = str(metadata.get("graph_id") or "") if isinstance(metadata, Mapping) else ""
    view = await server.load_view(thread)
    if not graph or not view["run"].get("request"):
        raise ServerThreadForeign(f"thread {thread!r} of {server.host} holds no run")
    return _RemoteThread(server, thread, graph, read_run(view["run"], known))


async def _start(held: _RemoteThread, answer: str | None, context: Context) -> str:
    """Start what continues the run, and return its id; empty if there is nothing to do."""
    status, questions = held.run["status"], held.run["questions"]
    if status == "running":
        if answer is not None:
            raise ThreadBusy(
                f"thread {held.id!r} is at work on {held.server.host}",
                kept="the answer was not sent",
                next=f"supervise resume {held.id} --url {held.server.spec.url} follows it",
            )
        return await _find_working_run(held)
    if answer is not None:
        command = build_answer_command(held.id, questions, answer)
        return await _create(held, {"command": {"resume": command.resume}}, context)
    if questions or status == "done":
        return ""
    return await _create(held, {"input": {CONTINUE_KEY: True}}, context)


async def _find_working_run(held: _RemoteThread) -> str:
    with held.server.translate():
        runs = await held.server.client.runs.list(held.id, limit=LISTED_RUNS)
        working = [run for run in runs if run["status"] in WORKING]
        return str(
            min(working, key=lambda run: str(run["created_at"]))["run_id"] if working else ""
        )


async def _create(held: _RemoteThread, what: Mapping[str, Any], context: Context) -> str:
    changed = {
        each.name: getattr(context, each.name)
        for each in fields(context)
        if getattr(context, each.name) != each.default
    }
    with held.server.translate():
        run = await held.server.client.runs.create(
            held.id,
            held.graph,
            **what,
            context=changed or None,
            stream_mode=["custom"],
            stream_resumable=True,
            multitask_strategy="reject",
        )
        return str(run["run_id"])


async def _follow(
    held: _RemoteThread, run: str, on_event: EventListener | None
) -> ServerRunFailed | None:
    """Follow a run to its end, and return the error with which it ended."""
    stream = RunStream(held.server.spec, held.server.client, held.id, run)

    async def hear(event: Event) -> None:
        checked = check_event(event)
        if checked and on_event:
            _tell(on_event, checked)

    with held.server.translate():
        status = await stream.follow(hear)
    if status in ("success", "interrupted"):
        return None
    said = stream.error or "the server gives no reason"
    return ServerRunFailed(
        f"the run ended there as {status[:20]!r}",
        cause=said,
        kept=f"thread {held.id}",
        next=f"supervise resume {held.id} --url {held.server.spec.url}",
    )


def _tell(on_event: EventListener, event: Event) -> None:
    try:
        on_event(event)
    except (LookupError, TypeError, ValueError, AttributeError):
        return  # values of another version, which the listener cannot show


async def _build_outcome(held: _RemoteThread, error: ServerRunFailed | None) -> Outcome:
    """Build the outcome from the thread's state."""
    with held.server.translate():
        state: Mapping[str, Any] = {**await held.server.client.threads.get_state(held.id)}
        values = dict(state["values"])
    try:
        results = {
            str(name): Report.model_validate(report)
            for name, report in dict(values.get("results") or {}).items()
        }
        return Outcome(
            thread=held.id,
            status="failed" if error or held.run["status"] == "stopped" else held.run["status"],
            answer=Answer.model_validate(values["answer"]) if values.get("answer") else None,
            plan=Plan.model_validate(values["plan"]) if values.get("plan") else None,
            results=results,
            timing=dict(values.get("timing") or {}),
            usage=RunUsage.model_validate(values.get("usage") or {}),
            error=error,
            questions=held.run["questions"],
        )
    except (ValidationError, ValueError, TypeError) as problem:
        raise ServerUnreadable(
            f"the state of thread {held.id!r} cannot be read",
            cause=f"{type(problem).__name__}",
            next="is the server's version that of this command?",
        ) from None
