"""A remote worker that speaks the Agent Protocol: LangGraph's server, Aegra.

The thread's id follows from the attempt, so an attempt that is made again after a crash finds its
run and joins it. The far side continues when the connection ends; only `cancel` ends a run.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import UUID, uuid5

import httpx
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import ConflictError

from extensions.remote.session import (
    HearEvent,
    RemoteQuestion,
    RemoteRequest,
    RemoteStart,
    RemoteState,
)
from nodes.errors import RemoteError
from nodes.net.connection import (
    RemoteRefused,
    RemoteTooLarge,
    RemoteUnknown,
    open_http_client,
    translate_errors,
)
from nodes.schemas.servers import RemoteSpec
from nodes.text.plain_text import sanitize_line

THREADS: Final = UUID("5c5f2c0e-8f0b-5c1b-9a53-6f2a3e0d9b41")
"""The namespace of the threads' ids."""
FIRST_EVENT: Final = "0"
"""Asks for the events of a run from its start."""
ANSWERED: Final = "answered"
"""Of a run's metadata: how many questions of the work had been answered when it began."""
MAX_RUNS: Final = 20
"""Runs of one attempt that ended badly while this side was away."""
POLL_S: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Pauses between questions for the status, where no stream says that the run has ended."""
MAX_ERROR_CHARS: Final = 500
_WORKING: Final = ("pending", "running")
_ENDED_BADLY: Final = ("error", "timeout", "interrupted")


@asynccontextmanager
async def open_agent_protocol(
    spec: RemoteSpec,
    headers: Mapping[str, str],
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator["AgentProtocolSession"]:
    """Open a session with the graph of a server."""
    async with open_http_client(spec, headers, transport) as http:
        # Not `get_client`, which would send the LangSmith key of the environment to the far side.
        yield AgentProtocolSession(spec, LangGraphClient(http))


class AgentProtocolSession:
    """One attempt on a thread of the far side."""

    can_reply = True

    def __init__(self, spec: RemoteSpec, client: LangGraphClient) -> None:
        self._spec, self._client = spec, client
        self._thread, self._run, self._error = "", "", ""
        self._caps: dict[str, Any] = {}
        self._streams = True
        self._last_event = FIRST_EVENT

    async def probe(self) -> str:
        """Return what the graph takes."""
        with translate_errors(self._spec):
            takes, knows = await self._read_schemas()
        form = "request and materials" if {"request", "materials"} <= takes else "a message"
        caps = ", ".join(sorted(knows & {"deadline_s", "max_tokens", "max_cost_usd"})) or "none"
        return f"{self._spec.describe()} takes {form}; caps that it knows: {caps}"

    async def begin(self, request: RemoteRequest) -> RemoteStart:
        """Join the run of this attempt, or start one on the first thread that has none."""
        with translate_errors(self._spec):
            for turn in range(MAX_RUNS):
                self._thread = str(uuid5(THREADS, f"{request.key}/{turn}"))
                await self._client.threads.create(thread_id=self._thread, if_exists="do_nothing")
                run = await self._find_run()
                if run is None:
                    await self._start(request)
                    return RemoteStart(self._thread)
                if run["status"] in _ENDED_BADLY:
                    continue
                self._run = str(run["run_id"])
                self._caps = dict((run.get("kwargs") or {}).get("context") or {})
                return RemoteStart(self._thread, is_joined=True, answered=_read_answered(run))
        raise RemoteRefused(f"{MAX_RUNS} runs of this attempt have failed at {self._spec.host}")

    async def wait(self, hear: HearEvent) -> RemoteState:
        """Follow the run by its stream, and by its status where the stream breaks off."""
        pauses = iter(POLL_S)
        while True:
            with translate_errors(self._spec):
                run = await self._client.runs.get(self._thread, self._run)
                status = str(run["status"])
            if status not in _WORKING:
                return await self._read_state(status)
            if self._streams:
                await self._follow(hear)
            await asyncio.sleep(next(pauses, POLL_S[-1]))

    async def reply(self, replies: Mapping[str, Any], *, answered: int) -> None:
        """Resume the run by the ids of its interrupts, unless that was done before."""
        with translate_errors(self._spec):
            run = await self._find_run()
            if run is None or _read_answered(run) < answered:
                run = await self._create({"command": {"resume": dict(replies)}}, answered)
            self._run = str(run["run_id"])

    async def cancel(self) -> None:
        """Cancel the run; what it has done stays on its thread."""
        with translate_errors(self._spec):
            if not self._run and self._thread and (run := await self._find_run()):
                self._run = str(run["run_id"])  # the answer that named it was lost
            if self._run:
                await self._client.runs.cancel(self._thread, self._run, action="interrupt")

    async def _find_run(self) -> Mapping[str, Any] | None:
        runs = await self._client.runs.list(self._thread, limit=10)
        return max(runs, key=lambda run: str(run["created_at"]), default=None)

    async def _start(self, request: RemoteRequest) -> None:
        takes, knows = await self._read_schemas()
        given: dict[str, Any] = {"messages": [{"role": "user", "content": request.full_text}]}
        if {"request", "materials"} <= takes:
            given = {"request": request.words, "materials": dict(request.materials)}
        elif "request" in takes:
            given = {"request": request.full_text}
        self._caps = {name: cap for name, cap in request.caps.items() if name in knows}
        run: Mapping[str, Any] | None
        try:
            run = await self._create({"input": given}, 0)
        except ConflictError:  # an earlier try has started it, and its answer was lost
            run = await self._find_run()
            if run is None:
                raise
        self._run = str(run["run_id"])

    async def _create(self, what: Mapping[str, Any], answered: int) -> Mapping[str, Any]:
        return await self._client.runs.create(
            self._thread,
            self._spec.graph,
            **what,
            context=self._caps or None,
            metadata={ANSWERED: answered},
            stream_mode=["custom"],
            stream_resumable=True,
            multitask_strategy="reject",
        )

    async def _read_schemas(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names of the graph's inputs, and of the values of its context.

        Raises:
            RemoteUnknown: the server has no such graph.
        """
        assistant = self._spec.graph
        if not _is_uuid(assistant):
            found = await self._client.assistants.search(graph_id=assistant, limit=1)
            if not found:
                raise RemoteUnknown(
                    f"{self._spec.host} has no graph {assistant!r}",
                    next="check `graph` in the worker's file",
                )
            assistant = str(found[0]["assistant_id"])
        schemas = await self._client.assistants.get_schemas(assistant)
        return _list_names(schemas, "input_schema"), _list_names(schemas, "context_schema")

    async def _follow(self, hear: HearEvent) -> None:
        """Pass on the run's events until its stream ends, or breaks off."""
        stream = self._client.runs.join_stream(
            self._thread, self._run, stream_mode="custom", last_event_id=self._last_event
        )
        try:
            with translate_errors(self._spec):
                async for part in stream:
                    self._last_event = part.id or self._last_event
                    if part.event == "error":
                        self._error = _describe_error(part.data)
                    elif isinstance(part.data, Mapping):
                        await hear(part.data)
        except RemoteTooLarge:
            self._streams = False
        except RemoteError as error:
            if not error.retryable:
                self._streams = False

    async def _read_state(self, status: str) -> RemoteState:
        with translate_errors(self._spec):
            state: Mapping[str, Any] = {**await self._client.threads.get_state(self._thread)}
            values, questions = state.get("values"), tuple(_list_questions(state))
        if status == "interrupted":
            return RemoteState("cancelled", values, error="the run was cancelled there")
        if status != "success":
            reason = self._error or _find_task_error(state) or "it says no reason"
            return RemoteState("failed", values, error=f"{status}: {reason}")
        return RemoteState("asks" if questions else "done", values, questions)


def _list_questions(state: Mapping[str, Any]) -> list[RemoteQuestion]:
    waiting = state.get("interrupts") or [
        each for task in state.get("tasks") or () for each in task.get("interrupts") or ()
    ]
    named = [(each.get("id") or each.get("interrupt_id"), each.get("value")) for each in waiting]
    return [RemoteQuestion(str(name), value) for name, value in named if name]


def _find_task_error(state: Mapping[str, Any]) -> str:
    errors = (task.get("error") for task in state.get("tasks") or ())
    return next((_describe_error(error) for error in errors if error), "")


def _describe_error(said: object) -> str:
    if isinstance(said, Mapping):
        said = ": ".join(str(said[key]) for key in ("error", "message") if said.get(key))
    return sanitize_line(str(said), MAX_ERROR_CHARS)


def _read_answered(run: Mapping[str, Any]) -> int:
    count = (run.get("metadata") or {}).get(ANSWERED)
    return count if isinstance(count, int) and 0 <= count <= 1000 else 0


def _list_names(schemas: Mapping[str, Any], which: str) -> frozenset[str]:
    schema = schemas.get(which)
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return frozenset(properties) if isinstance(properties, Mapping) else frozenset()


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
