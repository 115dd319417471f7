"""Programs that speak MCP, made with the public client, and what they are sent."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

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


@asynccontextmanager
async def connect_stdio(
    folder: Path, *options: str, replies: dict[str, Any] | None = None, **env: str
) -> AsyncIterator[tuple[ClientSession, Heard]]:
    """Start a server in a folder, and give a session with it.

    Args:
        replies: what the client's user fills into each form; None for a client without forms.
    """
    heard = Heard()

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        heard.questions.append(params.message)
        fields = params.requestedSchema["properties"]
        content = {name: replies[name] for name in fields if replies and name in replies}
        return types.ElicitResult(action="accept" if content else "decline", content=content)

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
                elicitation_callback=None if replies is None else answer,
                logging_callback=heard.note_log,
            ) as session,
        ):
            await session.initialize()
            yield session, heard


def read_text(result: types.CallToolResult) -> str:
    """Return the text of a result."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text
