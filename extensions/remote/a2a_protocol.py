"""A remote worker that speaks A2A: any agent that publishes a card.

The context's id follows from the attempt, so an attempt that is made again after a crash finds its
task where the agent lists tasks. The task's state is polled: some agents answer a message only when
the work is done.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final
from uuid import UUID, uuid5

import httpx
from a2a.client import A2ACardResolver, A2AClientError, Client, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientTimeoutError, AgentCardResolutionError
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    Task,
    TaskState,
)
from a2a.utils.constants import TransportProtocol
from a2a.utils.errors import A2AError, TaskNotFoundError
from google.protobuf.json_format import MessageToDict, ParseError  # type: ignore[import-untyped]  # no stubs

from extensions.remote.session import (
    HearEvent,
    RemoteQuestion,
    RemoteRequest,
    RemoteStart,
    RemoteState,
    RemoteStatus,
)
from nodes.errors import RemoteError
from nodes.net.connection import (
    MAX_CAUSE_CHARS,
    RemoteRefused,
    RemoteUnknown,
    RemoteUnreachable,
    RemoteUnreadable,
    build_status_error,
    open_http_client,
    translate_errors,
)
from nodes.schemas.servers import RemoteSpec
from nodes.text.plain_text import sanitize_line

CONTEXTS: Final = UUID("0f7c7d3c-58a9-5a1e-8f0e-6f3f9f0f9a11")
"""The namespace of the contexts' ids."""
MAX_TASKS: Final = 20
"""Tasks of one attempt that ended badly while this side was away."""
ANSWER_TIMEOUT_S: Final = 2.0
"""For the answer to a message whose task has ended."""
POLL_S: Final = (0.1, 0.2, 0.5, 1.0, 2.0)
_ENDS: Final[Mapping[int, RemoteStatus]] = {
    TaskState.TASK_STATE_COMPLETED: "done",
    TaskState.TASK_STATE_FAILED: "failed",
    TaskState.TASK_STATE_REJECTED: "failed",
    TaskState.TASK_STATE_CANCELED: "cancelled",
    TaskState.TASK_STATE_INPUT_REQUIRED: "asks",
    TaskState.TASK_STATE_AUTH_REQUIRED: "failed",
}


@asynccontextmanager
async def open_a2a(
    spec: RemoteSpec,
    headers: Mapping[str, str],
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator["A2aSession"]:
    """Open a session with the agent at an address."""
    async with open_http_client(spec, headers, transport) as http:
        session = A2aSession(spec, http)
        try:
            yield session
        finally:
            await session.close()


class A2aSession:
    """One attempt in a context of the agent."""

    can_reply = False
    """A2A does not say which of an agent's questions were answered before a crash."""

    def __init__(self, spec: RemoteSpec, http: httpx.AsyncClient) -> None:
        self._spec, self._http = spec, http
        self._client: Client | None = None
        self._context, self._task = "", ""
        self._message: Message | None = None
        self._sent: Task | None = None
        self._sending: asyncio.Task[None] | None = None

    async def probe(self) -> str:
        """Return the name and the version on the agent's card."""
        with _translate_errors(self._spec):
            card = await A2ACardResolver(self._http, self._spec.url).get_agent_card()
            ClientFactory(self._build_config()).create(card)
        return f"A2A agent {sanitize_line(f'{card.name} {card.version}', 120)}"

    async def begin(self, request: RemoteRequest) -> RemoteStart:
        """Join the task of this attempt, or send the message that starts one."""
        with _translate_errors(self._spec):
            if self._client is None:
                factory = ClientFactory(self._build_config())
                self._client = await factory.create_from_url(self._spec.url)
            for turn in range(MAX_TASKS):
                self._context = str(uuid5(CONTEXTS, f"{request.key}/{turn}"))
                task = await self._find_task()
                if task is None:
                    await self._send(request)
                    return RemoteStart(self._context)
                if _ENDS.get(task.status.state) in ("failed", "cancelled"):
                    continue
                self._task = task.id
                return RemoteStart(self._context, is_joined=True)
        raise RemoteRefused(f"{MAX_TASKS} tasks of this attempt have failed at {self._spec.host}")

    async def wait(self, hear: HearEvent) -> RemoteState:
        """Ask for the task's state until it has ended, or needs a human."""
        if self._message is not None:
            with _translate_errors(self._spec):
                return RemoteState("done", _build_values(_read_parts(self._message.parts)))
        pauses = iter(POLL_S)
        while True:
            with _translate_errors(self._spec):
                assert self._client is not None, "the work has begun"
                task = await self._client.get_task(GetTaskRequest(id=self._task))
                if status := _ENDS.get(task.status.state):
                    return _read_task(await self._choose_fuller(task), status)
            await asyncio.sleep(next(pauses, POLL_S[-1]))

    async def _choose_fuller(self, task: Task) -> Task:
        """Return the task as the answer to the message has it, which some agents fill alone."""
        if self._sending is not None and not task.artifacts:
            await asyncio.wait([self._sending], timeout=ANSWER_TIMEOUT_S)
            if self._sent is not None and self._sent.status.state == task.status.state:
                return self._sent
        return task

    async def reply(self, replies: Mapping[str, Any], *, answered: int) -> None:
        """Raise: a question ends the attempt, and the next one holds the answer.

        Raises:
            RemoteRefused: always.
        """
        raise RemoteRefused("an A2A agent's question is answered by another attempt")

    async def cancel(self) -> None:
        """Cancel the task."""
        with _translate_errors(self._spec):
            if not self._task and self._context and (task := await self._find_task()):
                self._task = task.id
            if self._task and self._client is not None:
                await self._client.cancel_task(CancelTaskRequest(id=self._task))

    async def close(self) -> None:
        """Stop waiting for the answer to the message; the agent continues."""
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])

    def _build_config(self) -> ClientConfig:
        return ClientConfig(
            httpx_client=self._http,
            streaming=False,
            polling=True,
            supported_protocol_bindings=[TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON],
        )

    async def _find_task(self) -> Task | None:
        """Return the task of the context; None where there is none, or the agent lists none."""
        assert self._client is not None, "the session is connected"
        try:
            found = await self._client.list_tasks(ListTasksRequest(context_id=self._context))
        except (A2AClientTimeoutError, RemoteError):
            raise
        except (A2AError, NotImplementedError) as error:
            if isinstance(error.__cause__, httpx.HTTPError):
                raise
            return None  # listing is optional, and unknown to version 0.3
        mine = [task for task in found.tasks if task.context_id == self._context]
        return max(mine, key=lambda task: task.status.timestamp.ToNanoseconds(), default=None)

    async def _send(self, request: RemoteRequest) -> None:
        """Send the message, and wait until its task is known; some agents answer at the end."""
        message = Message(
            message_id=str(uuid5(CONTEXTS, f"{self._context}/message")),
            context_id=self._context,
            role=Role.ROLE_USER,
            parts=[Part(text=request.full_text)],
        )
        self._sending = asyncio.create_task(self._read_answer(SendMessageRequest(message=message)))
        pauses = iter(POLL_S)
        while not self._sending.done():
            await asyncio.wait([self._sending], timeout=next(pauses, POLL_S[-1]))
            if not self._sending.done() and (task := await self._find_task()):
                self._task = task.id
                return
        self._sending.result()

    async def _read_answer(self, request: SendMessageRequest) -> None:
        assert self._client is not None, "the session is connected"
        async for answer in self._client.send_message(request):
            if answer.HasField("message"):
                self._message = answer.message
            else:
                self._sent, self._task = answer.task, answer.task.id


@contextmanager
def _translate_errors(spec: RemoteSpec) -> Iterator[None]:
    with translate_errors(spec):
        try:
            yield
        except A2AError as error:
            raise _build_error(spec, error) from None
        except ParseError as error:
            cause = sanitize_line(str(error), MAX_CAUSE_CHARS)
            raise RemoteUnreadable(f"the answer of {spec.host} is not A2A", cause=cause) from None
        except NotImplementedError as error:
            cause = sanitize_line(str(error), MAX_CAUSE_CHARS)
            raise RemoteRefused(f"{spec.host} speaks another version of A2A", cause=cause) from None


def _build_error(spec: RemoteSpec, error: A2AError) -> RemoteError:
    cause = sanitize_line(str(error), MAX_CAUSE_CHARS)
    if isinstance(error.__cause__, httpx.HTTPStatusError):
        return build_status_error(spec, error.__cause__.response, cause)
    if isinstance(error, A2AClientTimeoutError) or isinstance(
        error.__cause__, httpx.TransportError
    ):
        return RemoteUnreachable(f"{spec.host} cannot be reached", cause=cause)
    if isinstance(error, AgentCardResolutionError):
        return RemoteUnknown(
            f"{spec.host} has no readable agent card",
            cause=cause,
            next="check `a2a` in the worker's file: the card is at "
            "/.well-known/agent-card.json below it",
        )
    if isinstance(error, TaskNotFoundError):
        return RemoteUnknown(f"{spec.host} does not know the task any more", cause=cause)
    kind = "cannot be understood by" if isinstance(error, A2AClientError) else "is refused by"
    return RemoteRefused(f"the request {kind} {spec.host}", cause=cause)


def _read_task(task: Task, status: RemoteStatus) -> RemoteState:
    said = _read_parts(task.status.message.parts)
    if status == "done":
        made = [_read_parts(artifact.parts) for artifact in task.artifacts]
        replies = [each.parts for each in task.history if each.role == Role.ROLE_AGENT]
        texts = [text for text in made if text] or [_read_parts(parts) for parts in replies[-1:]]
        return RemoteState("done", _build_values("\n\n".join(texts) or said))
    if status == "asks":
        values = [said] if said else list(_list_asked(task))
        asked = values or ["It needs an answer, and does not say to what."]
        return RemoteState("asks", None, tuple(RemoteQuestion(task.id, each) for each in asked))
    name = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
    return RemoteState(status, None, error=f"{name}: {said}" if said else name)


def _list_asked(task: Task) -> Iterator[Any]:
    """Yield what a task asks in its output, where LangGraph's server puts an interrupt's value."""
    for artifact in task.artifacts:
        for part in artifact.parts:
            if part.WhichOneof("content") == "data":
                found = MessageToDict(part.data)
                yield found.get("value", found) if isinstance(found, dict) else found
            elif text := _read_part(part):
                yield text


def _read_parts(parts: Any) -> str:
    """Return the text of a message's parts, and its data as JSON; files are named only."""
    return "\n".join(filter(None, map(_read_part, parts))).strip()


def _read_part(part: Part) -> str:
    match part.WhichOneof("content"):
        case "text":
            return str(part.text)
        case "data":
            return str(MessageToDict(part.data))
        case "raw" | "url":
            return f"[file {sanitize_line(part.filename or part.media_type, 80)}, not read]"
    return ""


def _build_values(text: str) -> dict[str, Any]:
    return {"messages": [{"type": "ai", "content": text}]}
