"""Programs that speak MCP, made with the public client, and what they are sent."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.session import ElicitationFnT
from mcp.client.stdio import stdio_client
from mcp.shared.memory import create_connected_server_and_client_session

from extensions.mcp.server.server import ToolCalls, build_server
from extensions.mcp.server.tools import load_served_teams
from graph.settings import Settings
from state import Context

ROOT = Path(__file__).parents[2]
TEAM = "research_writing_code"
REQUEST = "What does a heat pump cost in Bern?"
NOTES = {"notes.md": "# Heat pumps\n\nA heat pump moves heat. It costs 9000 EUR in Bern.\n"}


@dataclass
class Heard:
    """What a client was sent beside results."""

    log: list[str] = field(default_factory=list)
    progress: list[tuple[float, float | None, str | None]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def note_log(self, params: types.LoggingMessageNotificationParams) -> None:
        async with self._changed:
            self.log.append(str(params.data))
            self._changed.notify_all()

    async def wait_for_lines(self, count: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.log) >= count)

    async def note_progress(
        self, progress: float, total: float | None, message: str | None
    ) -> None:
        self.progress.append((progress, total, message))


def build_environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment of a server in a folder, with the embedded model."""
    home = folder.parent / "home"
    return {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "HOME": str(home), **more}


def make_form_filler(replies: Mapping[str, Any], heard: Heard) -> ElicitationFnT:
    """Return what fills a client's forms with replies, and notes their questions."""

    async def fill(context: Any, params: Any) -> types.ElicitResult:
        heard.questions.append(params.message)
        fields = params.requestedSchema["properties"]
        content = {name: replies[name] for name in fields if name in replies}
        return types.ElicitResult(action="accept" if content else "decline", content=content)

    return fill


@asynccontextmanager
async def connect_stdio(
    folder: Path, *options: str, replies: dict[str, Any] | None = None, **env: str
) -> AsyncIterator[tuple[ClientSession, Heard]]:
    """Start a server in a folder, and give a session with it.

    Args:
        replies: what the client's user fills into each form; None for a client without forms.
    """
    heard = Heard()
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "graph.cli", "mcp", *options],
        env=build_environment(folder, **env),
        cwd=folder,
    )
    with (folder.parent / "stderr.txt").open("a") as errors:
        async with (
            stdio_client(server, errors) as (read, write),
            ClientSession(
                read,
                write,
                elicitation_callback=None if replies is None else make_form_filler(replies, heard),
                logging_callback=heard.note_log,
            ) as session,
        ):
            await session.initialize()
            yield session, heard


@asynccontextmanager
async def connect_here(
    *teams: str, context: Context | None = None, replies: dict[str, Any] | None = None
) -> AsyncIterator[tuple[ClientSession, Heard]]:
    """Yield a session with a server of these teams in this process; `replies` as over stdio."""
    heard, settings = Heard(), Settings()
    served = load_served_teams(teams, settings)
    calls = ToolCalls(served, settings, context or Context(), is_local=True)
    async with create_connected_server_and_client_session(
        build_server(calls),
        elicitation_callback=None if replies is None else make_form_filler(replies, heard),
        logging_callback=heard.note_log,
    ) as session:
        yield session, heard


def read_text(result: types.CallToolResult) -> str:
    """Return the text of a result."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text
