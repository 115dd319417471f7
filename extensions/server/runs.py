"""The runs of a server: their list, and the trace of one."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel, TypeAdapter, ValidationError

from extensions.server.run_connection import (
    RunServer,
    ServerThreadForeign,
    ServerUnauthorized,
    ServerUnreadable,
    open_server,
)
from extensions.server.trace_writer import NAMESPACE
from graph.runs.run_view import RunEvent
from graph.runs.trace import build_trace
from graph.settings import Settings
from nodes.errors import RemoteError
from nodes.net.connection import RemoteInvalid, translate_errors
from nodes.text.finite_json import parse_finite_json
from nodes.text.plain_text import sanitize_line
from state import FINAL_STATUSES, Answer, Plan, Report, RunStatus, RunUsage, Timing

MAX_RUNS: Final = 100
MAX_ASKED_AT_ONCE: Final = 8
MAX_TRACE_CHARS: Final = 50_000_000
MAX_PAGES: Final = 200
"""Of a trace; each but the last holds about two million characters."""
MAX_QUESTIONS: Final = 100
SHOWN: Final = ("thread_id", "status", "metadata", "created_at", "updated_at")
"""Of a thread; without it LangGraph's server sends the whole state of each."""


@dataclass(frozen=True)
class ServerRuns:
    """The list of a server's runs, the newest first."""

    runs: Sequence[Mapping[str, Any]]
    foreign: int
    """Threads that hold no run of a team."""
    is_cut: bool
    """There are more threads than were asked for."""


@dataclass(frozen=True)
class ServerLog:
    """All that a server has kept of a thread's runs."""

    entries: list[dict[str, Any]]
    unreadable: int
    run: Mapping[str, Any]
    """What the last checkpoint and the server say: `status`, `questions` and others."""
    graph: str
    """The graph of the thread, as the server names it."""
    line_count: int
    """Lines of the trace so far, with those that could not be read."""

    def build_trace(self) -> dict[str, Any]:
        """Return the trace in the documented format; the server knows whether the run is over."""
        trace = build_trace(self.entries)
        trace["run"] |= {"status": self.run["status"]}
        trace["run"].pop("questions", None)
        if self.run["status"] == "needs_input":
            trace["run"]["questions"] = list(self.run["questions"])
        return trace


async def alist_server_runs(url: str, *, settings: Settings | None = None) -> ServerRuns:
    """Return a summary of the newest threads that the server shows, the newest first.

    Raises:
        ServerError: the server cannot be used.
    """
    async with open_server(url, settings or Settings()) as server:
        found = await _search_threads(server)
        if not isinstance(found, list):
            raise ServerUnreadable(
                f"the answer of {server.host} is no list of threads",
                next="is --url the address of a server of the Agent Protocol?",
            )
        gate = asyncio.Semaphore(MAX_ASKED_AT_ONCE)
        threads = [thread for thread in found if isinstance(thread, Mapping)][:MAX_RUNS]
        summaries = await asyncio.gather(*(_summarize(server, thread, gate) for thread in threads))
    runs = [summary for summary in summaries if summary]
    return ServerRuns(runs, len(threads) - len(runs), len(found) > MAX_RUNS)


async def aload_server_trace(
    thread: str, url: str, *, settings: Settings | None = None
) -> dict[str, Any]:
    """Return the trace of a thread of a server, in the form of the local one.

    Raises:
        ServerThreadUnknown, ServerThreadForeign: the server shows no such thread, or it is none of
            a team.
        ServerError: the server cannot be used.
    """
    async with open_server(url, settings or Settings()) as server:
        return (await load_server_log(server, thread)).build_trace()


async def load_server_log(server: RunServer, thread: str) -> ServerLog:
    """Return the checked entries of a thread's trace.

    Raises:
        ServerThreadUnknown, ServerThreadForeign, ServerError: as `aload_server_trace`.
    """
    known = await server.load_thread(thread)
    checked, number, size = CheckedEntries(), 0, 0
    for _ in range(MAX_PAGES):
        view = await server.load_view(thread, NAMESPACE, str(UUID(int=number)))
        lines = view.get("lines")
        if not isinstance(lines, list):
            raise ServerUnreadable(f"the answer of {server.host} holds no trace")
        size += sum(len(line) for line in lines if isinstance(line, str))
        if size > MAX_TRACE_CHARS:
            limit = f"{MAX_TRACE_CHARS / 1e6:g} MB"
            raise ServerUnreadable(f"the trace of {server.host} is larger than {limit}")
        checked.add_lines(lines)
        number += len(lines)
        if not lines or view.get("next") != number:
            break
    else:
        raise ServerUnreadable(f"the trace of {server.host} has more than {MAX_PAGES} pages")
    metadata = known.get("metadata")
    graph = metadata.get("graph_id") if isinstance(metadata, Mapping) else None
    run = read_run(view["run"], known)
    return ServerLog(checked.entries, checked.unreadable, run, str(graph or ""), number)


def read_run(said: Mapping[str, Any], thread: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of a thread's last run, from the graph and from the server."""
    questions = _read_questions(said.get("questions"))
    wall_s = said.get("wall_s")
    return {
        "request": str(said.get("request") or ""),
        "started": sanitize_line(str(said.get("started") or ""), 40),
        "wall_s": float(wall_s) if isinstance(wall_s, int | float) else None,
        "questions": questions,
        "status": _choose_status(said, str(thread.get("status")), bool(questions)),
    }


def _choose_status(said: Mapping[str, Any], thread_status: str, is_asking: bool) -> str:
    """Return the status of a run: of one without an end the server knows whether it is at work."""
    if thread_status == "busy":
        return "running"
    if is_asking:
        return "needs_input"
    if said.get("status") in FINAL_STATUSES and not said.get("is_in_progress"):
        return str(said["status"])
    return "failed" if thread_status == "error" else "stopped"


async def _search_threads(server: RunServer) -> object:
    options: dict[str, Any] = {"sort_by": "updated_at", "sort_order": "desc"}
    search = server.client.threads.search
    try:
        with translate_errors(server.spec):
            return await search(limit=MAX_RUNS, select=list(SHOWN), **options)
    except RemoteError as error:
        if not isinstance(error, RemoteInvalid):
            with server.translate():
                raise
    with server.translate():  # Aegra selects no fields
        return await search(limit=MAX_RUNS, **options)


async def _summarize(
    server: RunServer, thread: Mapping[str, Any], gate: asyncio.Semaphore
) -> dict[str, Any] | None:
    """Return the summary of a thread; None for one without a run of a team."""
    name = str(thread.get("thread_id"))
    async with gate:
        try:
            view = await server.load_view(name)
        except (ServerThreadForeign, ServerUnreadable, ServerUnauthorized):
            return None
    run = read_run(view["run"], thread)
    if not run["request"] and run["status"] != "running":  # in the queue it has none yet
        return None
    started = run["started"] or str(thread.get("created_at") or "")
    return {**run, "thread": name, "team": str(view.get("team") or ""), "started": started}


def _read_questions(said: object) -> list[dict[str, Any]]:
    """Return the open questions in a form that can be shown."""
    questions = said if isinstance(said, list) else []
    return [each for each in map(_read_question, questions[:MAX_QUESTIONS]) if each]


def _read_question(said: object) -> dict[str, Any] | None:
    if not isinstance(said, dict) or not isinstance(said.get("id"), str):
        return None
    question, kind = dict(said), said.get("kind")
    try:
        if kind == "plan":
            Plan.model_validate(said["plan"])
            return question
    except (ValidationError, KeyError):
        return {"id": said["id"], "is": "approval of a plan that cannot be read"}
    is_call = isinstance(said.get("tool"), str) and isinstance(said.get("call_args"), Mapping)
    if kind == "tool_call" and not is_call:
        return {"id": said["id"], "is": "approval of a call that cannot be read"}
    problems = said.get("problems")
    question["problems"] = problems if isinstance(problems, list) else []
    return question


_PARTS: Final[Mapping[str, type[BaseModel]]] = {
    "plan": Plan,
    "report": Report,
    "answer": Answer,
    "timing": Timing,
}
"""Types of the values of an event that others read into."""
_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "answer": ("answer", "usage", "timing", "status"),
    "report": ("report",),
    "plan_created": ("plan",),
}
_NOTES: Final = ("run", "resumed", "stopped", "asked")
MAX_NOTE_CHARS: Final = 500
_STATUS: Final = TypeAdapter[RunStatus](RunStatus)


@dataclass
class CheckedEntries:
    """The readable entries, in order, and how many others there were."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    unreadable: int = 0

    def add_lines(self, lines: Iterable[object]) -> None:
        """Add the entries of some lines."""
        for line in lines:
            entry = _read_line(line)
            if entry is None:
                self.unreadable += 1
            else:
                self.entries.append(entry)


def check_event(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an event that can be shown; None for one that this version cannot read."""
    try:
        RunEvent.model_validate(event)
        for name in _REQUIRED.get(str(event["kind"]), ()):
            event[name]
        for name, kind in _PARTS.items():
            if event.get(name) is not None and not (name == "answer" and event["kind"] != "answer"):
                kind.model_validate(event[name])
        if event["kind"] == "answer":
            RunUsage.model_validate(event["usage"])
            _STATUS.validate_python(event["status"])
        if event["kind"] == "request":
            _check_request(event)
    except (ValidationError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return dict(event)


def _read_line(line: object) -> dict[str, Any] | None:
    if not isinstance(line, str):
        return None
    try:
        entry = parse_finite_json(line)
    except ValueError:
        return None
    if not isinstance(entry, dict):
        return None
    return check_event(entry) if "kind" in entry else _check_note(entry)


def _check_note(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the note of a run's start or end, with short texts only."""
    name = next((name for name in _NOTES if name in entry), None)
    if name is None:
        return None
    value = entry[name]
    if name == "run":
        known = value if isinstance(value, Mapping) else {}
        return {"run": {each: str(known.get(each, ""))[:MAX_NOTE_CHARS] for each in RUN_NAMES}}
    return {name: [] if name == "asked" else str(value)[:MAX_NOTE_CHARS]}


RUN_NAMES: Final = ("thread", "team", "started")


def _check_request(event: Mapping[str, Any]) -> None:
    """Raise TypeError for a request whose values have other types."""
    models, materials = event.get("models", {}), event.get("materials", [])
    is_named = isinstance(models, Mapping) and isinstance(materials, list)
    if not isinstance(event.get("request", ""), str) or not is_named:
        raise TypeError("not a request")
