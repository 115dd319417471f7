"""Drive chat clients in a real browser against `langgraph dev`, and print what they showed.

    python -m tests.chat [--screenshots FOLDER] [--client page|agent-chat-ui]

The clients are a page over the React hook of the LangGraph SDK, with a file, and agent-chat-ui as
create-agent-chat-app ships it. Both play `tests/chat/story.py`: request, approval, question,
answer. Needs Node with npm, the npm registry, and Chromium.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from langgraph_sdk import get_sync_client

from tests.chat import story
from tests.chat.clients import (
    CHROMIUM_NAMES,
    ClientMissing,
    build_agent_chat_ui,
    build_page,
    copy_drivers,
    find_program,
)
from tests.endpoint.process import run_endpoint_process
from tests.integration.dev_server import TEAM, DevServer, dev_server
from tests.local_servers import serve

CLIENTS = {"page": build_page, "agent-chat-ui": build_agent_chat_ui}
DRIVERS = {"page": "drive_page.mjs", "agent-chat-ui": "drive_agent_chat.mjs"}
FILES = {"page": (story.MATERIAL,), "agent-chat-ui": ()}
"""This release of agent-chat-ui has no field for files."""
DRIVE_TIMEOUT_S = 300
MAX_LOG_CHARS = 40_000


def main() -> int:
    """Print what each client showed; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--screenshots", type=Path, default=Path("build/chat/screenshots"))
    parser.add_argument("--client", choices=CLIENTS, action="append")
    options = parser.parse_args()
    options.screenshots.mkdir(parents=True, exist_ok=True)
    try:
        results = [
            drive_client(name, options.screenshots.resolve()) for name in options.client or CLIENTS
        ]
    except ClientMissing as missing:
        print(missing, file=sys.stderr)
        return 2
    return int(not all(results))


def drive_client(name: str, screenshots: Path) -> bool:
    """Play the conversation in one client; return whether it came to its end."""
    chromium, folder = find_program(*CHROMIUM_NAMES), CLIENTS[name]()
    drivers = copy_drivers()
    with (
        tempfile.TemporaryDirectory() as checkout,
        run_endpoint_process(story.build_scenario(materials=FILES[name])) as endpoint,
        _serve_folder(folder) as page,
        dev_server(
            Path(checkout),
            OPENAI_BASE_URL=endpoint.base_url,
            OPENAI_API_KEY="sk-test",
            SUPERVISE_STUDIO_ORIGINS=page,
        ) as server,
    ):
        material = Path(checkout, story.MATERIAL)
        material.write_text(story.MATERIAL_TEXT, encoding="utf-8")
        given = {
            "page": f"{page}/?{urlencode(_choose_parameters(name, server))}",
            "chromium": chromium,
            "screenshots": str(screenshots),
            "file": str(material),
            "request": story.REQUEST,
            "question": story.QUESTION,
            "reply": story.REPLY,
            "answer": story.ANSWER,
        }
        command = [find_program("node"), DRIVERS[name], json.dumps(given)]
        try:
            done = subprocess.run(
                command, cwd=drivers, capture_output=True, text=True, timeout=DRIVE_TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            print(f"{name}: not at its end after {DRIVE_TIMEOUT_S} s")
            return False
        if done.returncode:
            print(server.read_log()[-MAX_LOG_CHARS:])
    print(f"{name}: {'passed' if done.returncode == 0 else 'failed'}")
    print(done.stdout if done.returncode == 0 else done.stderr)
    return done.returncode == 0


def _choose_parameters(name: str, server: DevServer) -> dict[str, Any]:
    """Return the parameters of a client's page; agent-chat-ui cannot set a run's context."""
    if name == "page":
        return {"api": server.url, "assistant": TEAM, "context": json.dumps(story.CONTEXT)}
    asking = get_sync_client(url=server.url).assistants.create(TEAM, context=story.CONTEXT)
    return {"apiUrl": server.url, "assistantId": asking["assistant_id"]}


@contextmanager
def _serve_folder(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback; yield its address."""
    handler = partial(_QuietHandler, directory=str(folder))
    with serve(handler) as url:
        yield url


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Write no line for a request."""


if __name__ == "__main__":
    sys.exit(main())
