"""A session with a server, held by one task: its streams must be left where they were entered."""

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import anyio
import httpx
from mcp import ClientSession, McpError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ClientRequest,
    PaginatedRequestParams,
)

from extensions.mcp.servers.listed_tool import ListedTool, read_tool
from extensions.mcp.servers.messages import (
    MAX_MESSAGE_BYTES,
    Incoming,
    MessageTooLarge,
    Outgoing,
    ScreenedMessages,
    run_server,
    screen_messages,
)
from extensions.mcp.servers.server_files import ResolvedServer
from nodes.errors import McpServerFailed
from nodes.errors.redaction import redact_text
from nodes.limits.per_loop import PerLoop
from nodes.text.plain_text import sanitize_line

MAX_PAGES: Final = 50
MAX_TOOLS: Final = 500
MAX_REASON_CHARS: Final = 300
LATE_ANSWER_S: Final = 0.2
# Without a handler Python prints the library's errors, with what a server wrote, on stderr.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class SessionLost(Exception):
    """The server ended, or the connection to it; the message says why."""


class CallFailed(Exception):
    """The server answered a call with an error of the protocol, or not in time."""


class McpSession:
    """An open session, with the tools that the server lists."""

    def __init__(self, server: ResolvedServer) -> None:
        self.server = server
        self.tools: tuple[ListedTool, ...] = ()
        self._client: ClientSession | None = None
        self._screened: ScreenedMessages | None = None
        self._closing = asyncio.Event()
        self._is_open: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Whoever waits may have been cancelled: then no one reads why it failed.
        self._is_open.add_done_callback(lambda done: done.cancelled() or done.exception())
        # Its own context: it outlives the run that happens to need it first.
        self._owner = asyncio.create_task(self._hold(), context=contextvars.Context())

    async def wait_until_open(self) -> None:
        """Return when the server has listed its tools.

        Raises:
            McpServerFailed: it cannot be started or reached, or not in time.
        """
        await asyncio.shield(self._is_open)

    @property
    def is_lost(self) -> bool:
        """Whether the server, or the connection, has ended, or is about to."""
        is_ending = self._closing.is_set() or self._owner.done()
        return is_ending or bool(self._screened and self._screened.end_reason)

    def end(self) -> None:
        """Begin to end the session, and the server if it was started for it."""
        self._closing.set()

    async def close(self) -> None:
        """End the session, and return when it has ended."""
        self.end()
        await asyncio.wait([self._owner])

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool and return the server's answer.

        Raises:
            SessionLost: the session has ended, before the call or during it.
            CallFailed: the server refused the call, or did not answer in time.
        """
        if self.is_lost or self._client is None:
            raise SessionLost(self._describe_end())
        params = CallToolRequestParams(name=tool, arguments=dict(arguments))
        # Not `call_tool`, which checks answers by a schema that the server chose.
        sending = self._client.send_request(
            ClientRequest(CallToolRequest(params=params)), CallToolResult
        )
        try:
            return await self._wait_for_answer(asyncio.create_task(sending))
        except McpError as error:
            if self.is_lost:
                raise SessionLost(self._describe_end()) from None
            raise CallFailed(_shorten(error.error.message)) from None
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise SessionLost(self._describe_end()) from None
        except ValueError as error:  # pydantic's too: an answer of another form
            raise CallFailed(f"its answer cannot be read: {_shorten(str(error))}") from None

    async def _wait_for_answer(self, answering: asyncio.Task[CallToolResult]) -> CallToolResult:
        """Return the answer to a request; one that does not come is cancelled."""
        ended = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait(
                {answering, ended},
                timeout=self.server.timeout_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if ended.done():  # what the server sent before its end may still be on its way
                await asyncio.wait({answering}, timeout=LATE_ANSWER_S)
            if answering.done():
                return answering.result()
            if ended.done():
                raise SessionLost(self._describe_end())
            raise CallFailed(f"no answer within {self.server.timeout_s:g} s")
        finally:
            for task in (answering, ended):
                task.cancel()

    async def _hold(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                await self._open(stack)
                self._is_open.set_result(None)
                await self._closing.wait()
        except Exception as error:  # of any transport, in a group or alone; told to who waits
            if not self._is_open.done():
                self._is_open.set_exception(self._explain(error))
        finally:
            if not self._is_open.done():
                self._is_open.cancel()

    async def _open(self, stack: AsyncExitStack) -> None:
        # Not a timeout of anyio, which must be left before the groups that are entered in it.
        async with asyncio.timeout(self.server.timeout_s):
            incoming, outgoing = await stack.enter_async_context(_connect(self.server))
            self._screened = await stack.enter_async_context(screen_messages(incoming, self.end))
            session = ClientSession(self._screened.stream, outgoing)
            self._client = await stack.enter_async_context(session)
            await self._client.initialize()
            self.tools = await _list_tools(self._client)

    def _explain(self, error: BaseException) -> McpServerFailed:
        timeout = self.server.timeout_s
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        match error:
            case TimeoutError():
                cause = f"it is not ready within {timeout:g} s"
            case FileNotFoundError():
                missing = str(error.filename or self.server.command[0])
                where = "" if "/" in missing else " on the PATH"
                cause = f"there is no {missing!r}{where}"
            case McpServerFailed():
                return error
            case McpError() if self._screened and self._screened.end_reason:
                cause = self._screened.end_reason
            case _:
                what = str(error).partition("For more information")[0]
                cause = _shorten(f"{type(error).__name__}: {what}")
        log = self.server.log
        look = f"; its messages are in {log}" if log and self.server.transport == "stdio" else ""
        return McpServerFailed(
            f"MCP server {self.server.name} cannot be used",
            cause=cause,
            next=f"correct its entry in mcp.json, or start it{look}",
        )

    def _describe_end(self) -> str:
        reason = self._screened.end_reason if self._screened else ""
        return reason or "the connection has ended"


@asynccontextmanager
async def _connect(server: ResolvedServer) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    if server.transport == "stdio":
        async with run_server(server) as streams:
            yield streams
    elif server.transport == "sse":
        async with sse_client(
            server.url, dict(server.headers), httpx_client_factory=make_http_client
        ) as streams:
            yield streams
    else:
        async with (
            make_http_client(dict(server.headers)) as client,
            streamable_http_client(server.url, http_client=client) as (incoming, outgoing, _),
        ):
            yield incoming, outgoing


async def _list_tools(client: ClientSession) -> tuple[ListedTool, ...]:
    found, cursor = dict[str, ListedTool](), None
    for _ in range(MAX_PAGES):
        params = PaginatedRequestParams(cursor=cursor) if cursor else None
        page = await client.list_tools(params=params)
        if len(found) + len(page.tools) > MAX_TOOLS:
            break
        for tool in filter(None, await asyncio.to_thread(list, map(read_tool, page.tools))):
            if tool.name in found:
                raise McpServerFailed(f"an MCP server lists two tools named {tool.name}")
            found[tool.name] = tool
        cursor = page.nextCursor
        if not cursor:
            return tuple(found.values())
    raise McpServerFailed(
        f"an MCP server lists more than {MAX_TOOLS} tools, or pages of them without end"
    )


def _shorten(text: str) -> str:
    return redact_text(sanitize_line(text, MAX_REASON_CHARS))


CONNECT_TIMEOUT_S = 10.0


class CappedTransport(httpx.AsyncHTTPTransport):
    """Ends a response that exceeds the limit; a stream of events is limited as one message is."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the body of the response is capped.

        Raises:
            httpx.RemoteProtocolError: the body is compressed, though no compression was asked for.
        """
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise httpx.RemoteProtocolError("it sent a compressed answer, which is not read")
        assert isinstance(response.stream, httpx.AsyncByteStream), "the client is asynchronous"
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = _CappedBody(response.stream, is_stream=is_stream)
        return response


class _CappedBody(httpx.AsyncByteStream):
    """Counts the bytes, in a stream those since the last end of an event."""

    def __init__(self, body: httpx.AsyncByteStream, *, is_stream: bool) -> None:
        self._body, self._is_stream = body, is_stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            event_end = max(chunk.rfind(b"\n\n"), chunk.rfind(b"\r\n\r\n"))
            is_new = self._is_stream and event_end >= 0
            size = len(chunk) - event_end if is_new else size + len(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx.ReadError(str(MessageTooLarge()))
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


def make_http_client(
    headers: dict[str, str] | None = None,
    timeout: httpx.Timeout | None = None,
    auth: httpx.Auth | None = None,
) -> httpx.AsyncClient:
    """Return a client with the given headers; compression is not asked for, since it hides sizes.

    Args:
        timeout: of the reading; the user's timeout ends a call in any case.
    """
    return httpx.AsyncClient(
        headers={**(headers or {}), "accept-encoding": "identity"},
        timeout=timeout or httpx.Timeout(CONNECT_TIMEOUT_S, read=None),
        auth=auth,
        transport=CappedTransport(),
        follow_redirects=False,
    )


_sessions: PerLoop[dict[ResolvedServer, McpSession]] = PerLoop(dict)


async def get_session(server: ResolvedServer) -> McpSession:
    """Return the running loop's session with a server; a session that was lost is opened again.

    Raises:
        McpServerFailed: the server cannot be used.
    """
    known = _sessions.get()
    session = known.get(server)
    if session is None or session.is_lost:
        session = known[server] = McpSession(server)
    try:
        await session.wait_until_open()
    except BaseException:  # a cancel too: a lost session is not offered again
        if session.is_lost and known.get(server) is session:
            del known[server]
        raise
    return session


async def close_sessions() -> None:
    """Close all sessions of the running loop."""
    known = _sessions.forget() or {}
    for session in known.values():
        await session.close()
