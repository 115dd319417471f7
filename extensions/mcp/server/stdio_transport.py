"""Serves one client over stdin and stdout, on which nothing but the protocol is written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def serve_stdio(server: Server[Any, Any]) -> None:
    """Serve until the client closes stdin; runs in flight are then cancelled, and kept."""
    with _take_streams() as (incoming, outgoing):
        wrapped = anyio.wrap_file(incoming), anyio.wrap_file(outgoing)
        async with stdio_server(*wrapped) as (read, write):
            await server.run(read, write, server.create_initialization_options())


@contextmanager
def _take_streams() -> Iterator[tuple[TextIO, TextIO]]:
    """Return stdin and stdout; what else prints, or reads, gets stderr and an empty input."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # without stderr
        os.dup2(nothing, 1)
    os.close(nothing)
    with (
        open(incoming, encoding="utf-8", errors="replace") as reader,
        open(outgoing, "w", encoding="utf-8", errors="replace") as writer,
    ):
        yield reader, writer
