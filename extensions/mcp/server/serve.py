"""Serves teams over stdio to one client."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from extensions.mcp.server.server import ToolCalls, build_server
from extensions.mcp.server.tools import ServedTeam, load_served_teams
from graph.commands.cancellation import run_cancellable
from graph.display.stderr_console import print_to_stderr
from graph.settings import Settings
from graph.teams.team_loader import list_teams
from nodes.errors import TeamInvalid
from nodes.text.counts import format_count
from state import Context


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


def serve_teams(names: Sequence[str], settings: Settings, *, context: Context) -> int:
    """Serve teams until the client leaves, or a signal ends the server; return the exit code."""
    _silence_libraries()
    teams = load_served_teams(names, settings) if names else _load_all(settings)
    calls = ToolCalls(teams, settings, context)
    served = format_count(len(teams), "team")
    print_to_stderr(f"serving {served} over stdio: {', '.join(teams)}", style="dim")
    run_cancellable(serve_stdio(build_server(calls)), farewell=_describe_end)
    return 0


def _silence_libraries() -> None:
    """Drop what libraries log, which are tracebacks of connections that a client has left."""
    logger = logging.getLogger("mcp")
    logger.propagate = False
    logger.addHandler(logging.NullHandler())


def _load_all(settings: Settings) -> dict[str, ServedTeam]:
    """Return the teams that have a name; one that cannot be loaded is left out, and named."""
    found: dict[str, ServedTeam] = {}
    for folder in list_teams(settings):
        try:
            found |= load_served_teams([folder], settings)
        except TeamInvalid as error:
            print_to_stderr(f"warning: team {folder.name} is left out: {error}", style="yellow")
    return found


def _describe_end() -> str:
    return "stopped. kept: all threads. next: supervise runs"
