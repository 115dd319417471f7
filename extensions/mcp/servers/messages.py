"""The messages of a server, within limits: of one started as a process, or elsewhere."""

import asyncio
import atexit
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse
from pydantic import ValidationError

from extensions.mcp.servers.server_files import ResolvedServer
from nodes.errors.redaction import redact_text
from nodes.security.private_files import make_private_folder, open_private_file

MAX_MESSAGE_BYTES: Final = 8_000_000
"""Limit for one message of a server."""
MAX_UNREADABLE: Final = 20
"""Messages that are no protocol, such as a greeting on stdout, before the session ends."""


class MessageTooLarge(Exception):
    """A message of a server exceeds the limit; the session ends."""

    def __init__(self) -> None:
        super().__init__(f"it sent a message of more than {MAX_MESSAGE_BYTES // 1_000_000} MB")


class ScreenedMessages:
    """The messages that were let through, and why there are no more."""

    def __init__(self, stream: MemoryObjectReceiveStream[SessionMessage | Exception]) -> None:
        self.stream = stream
        self.end_reason = ""
        """Why the server's messages ended; empty while they have not."""


@asynccontextmanager
async def screen_messages(
    incoming: MemoryObjectReceiveStream[SessionMessage | Exception], on_end: Callable[[], None]
) -> AsyncIterator[ScreenedMessages]:
    """Yield a server's messages without those that are not for us.

    Args:
        on_end: is called when there are no more.
    """
    passed, stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    screened = ScreenedMessages(stream)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_screen, incoming, passed, screened, on_end)
        try:
            yield screened
        finally:
            tasks.cancel_scope.cancel()
            passed.close()
            stream.close()


async def _screen(
    incoming: MemoryObjectReceiveStream[SessionMessage | Exception],
    passed: MemoryObjectSendStream[SessionMessage | Exception],
    screened: ScreenedMessages,
    on_end: Callable[[], None],
) -> None:
    unreadable = 0
    try:
        with passed, suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for message in incoming:
                if isinstance(message, MessageTooLarge):
                    screened.end_reason = str(message)
                    return
                unreadable += isinstance(message, Exception)
                if unreadable > MAX_UNREADABLE:
                    screened.end_reason = "what it sent is not the protocol"
                    return
                if isinstance(message, SessionMessage) and _is_wanted(message):
                    await passed.send(message)
    finally:
        screened.end_reason = screened.end_reason or "it ended"
        on_end()


def _is_wanted(message: SessionMessage) -> bool:
    root = message.message.root
    if isinstance(root, JSONRPCRequest):
        return root.method == "ping"
    return isinstance(root, JSONRPCResponse | JSONRPCError)


MAX_LOG_BYTES: Final = 1_000_000
"""Limit for what is kept of a server's stderr."""
GRACE_S: Final = 1.0
"""How long a server may take to end by itself, and again after a signal."""

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def run_server(server: ResolvedServer) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Start a server; yield its messages and the stream for ours. It ends with the block.

    Raises:
        OSError: it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *server.command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(server.environment),
        cwd=server.cwd,
        start_new_session=True,
        limit=MAX_MESSAGE_BYTES,
    )
    _running.add(process.pid)
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    assert process.stdin and process.stdout and process.stderr, "all three are pipes"
    work = [
        asyncio.create_task(_read_messages(process.stdout, received)),
        asyncio.create_task(_write_messages(process.stdin, to_send)),
        asyncio.create_task(_keep_log(process.stderr, server)),
    ]
    try:
        yield incoming, outgoing
    finally:
        await _end_process(process)
        await asyncio.wait(work[-1:], timeout=GRACE_S)
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        for pipe in (process.stdout, process.stderr):
            await _drain(pipe)
        for stream in (received, incoming, outgoing, to_send):
            stream.close()


async def _read_messages(
    stdout: asyncio.StreamReader, received: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    with received, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            try:
                line = await stdout.readline()
            except ValueError:
                await received.send(MessageTooLarge())
                return
            if not line:
                return
            try:
                message = JSONRPCMessage.model_validate_json(line)
            except ValidationError as error:
                await received.send(error)
            else:
                await received.send(SessionMessage(message))


async def _write_messages(
    stdin: asyncio.StreamWriter, to_send: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    with to_send, suppress(OSError):
        async for each in to_send:
            text = each.message.model_dump_json(by_alias=True, exclude_none=True)
            stdin.write(f"{text}\n".encode())
            await stdin.drain()


async def _keep_log(stderr: asyncio.StreamReader, server: ResolvedServer) -> None:
    """Write the beginning of what a server says to its log; the rest is dropped."""
    kept = 0
    while chunk := await stderr.read(65_536):
        if server.log and kept < MAX_LOG_BYTES:
            text = redact_text(chunk[: MAX_LOG_BYTES - kept].decode(errors="replace"))
            with suppress(OSError):  # a full disk must not end the server
                await asyncio.to_thread(_write_log, server, text, is_first=not kept)
            kept += len(chunk)


def _write_log(server: ResolvedServer, text: str, *, is_first: bool) -> None:
    assert server.log, "there is a log"
    make_private_folder(server.log.parent)
    mode = "w" if is_first else "a"
    with open(server.log, mode, encoding="utf-8", opener=open_private_file) as log:
        log.write(text)


async def _end_process(process: asyncio.subprocess.Process) -> None:
    """Close a server's stdin, as the protocol says, then end it with all that it started."""
    assert process.stdin, "it is a pipe"
    process.stdin.close()
    for signal_number in (None, signal.SIGTERM, signal.SIGKILL):
        if signal_number is not None:
            _signal_group(process.pid, signal_number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE_S)
            break
    _signal_group(process.pid, signal.SIGKILL)
    _running.discard(process.pid)


async def _drain(pipe: asyncio.StreamReader) -> None:
    """Read a pipe to its end, without which asyncio does not close it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            while await pipe.read(65_536):
                pass


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _end_all() -> None:
    """End the servers of event loops that never ended."""
    for pid in list(_running):
        _signal_group(pid, signal.SIGKILL)


_running: set[int] = set()
atexit.register(_end_all)
