"""`supervise ui`: the live page of a server, or of one that it starts."""

import asyncio
import contextlib
import socket
import sys
import webbrowser
from asyncio.subprocess import Process
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import httpx

from graph.commands.cancellation import run_cancellable
from graph.display.stderr_console import print_to_stderr
from graph.display.streams import announce_start, print_to_stdout
from graph.runs.server_connection import ServerUnreachable, ServerUnreadable
from graph.settings import Settings
from nodes.errors import SettingsInvalid, SupervisorError, UsageError
from nodes.models.setting_values import find_address_problem
from nodes.text.plain_text import sanitize_line

PAGE: Final = "/supervise/"
HOST: Final = "127.0.0.1"
START_TIMEOUT_S: Final = 90.0
POLL_S: Final = 0.2
ANSWER_TIMEOUT_S: Final = 10.0
END_TIMEOUT_S: Final = 5.0
MAX_SAID_CHARS: Final = 300
SERVER_PACKAGE: Final = "langgraph_api"


class UiServerMissing(UsageError):
    """The development server is not installed."""

    code = "UI_SERVER_MISSING"


class UiServerFailed(SupervisorError):
    """The development server did not start, or has ended by itself."""

    code, exit_code = "UI_SERVER_FAILED", 5


def open_page(url: str, *, opens_browser: bool) -> int:
    """Open the live page of a server.

    Raises:
        SettingsInvalid: the address is none.
        ServerUnreachable, ServerUnreadable: no server answers there, or it has no such page.
    """
    if problem := find_address_problem(url):
        raise SettingsInvalid(f"--url {problem}", next="--url http://127.0.0.1:2024, for instance")
    page = url.rstrip("/") + PAGE
    _require_page(page)
    _show_page(page, opens_browser=opens_browser)
    return 0


def serve_and_open(
    teams: Sequence[str], port: int, settings: Settings, *, opens_browser: bool
) -> int:
    """Start a server, open its page, and return when a signal ends it.

    Raises:
        UiServerMissing: the server's package is not installed.
        UiServerFailed: it did not start, or has ended.
    """
    if find_spec(SERVER_PACKAGE) is None:
        raise UiServerMissing(
            "the development server is not installed",
            next="pip install 'supervisor-worker[ui]', or open another server's page with --url; "
            "in a checkout bin/supervise ui installs it",
        )
    log = settings.home / "ui.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    server = _UiServer(_choose_port(port), tuple(teams), log)
    announce_start("starting the development server")
    run_cancellable(server.run(opens_browser=opens_browser), farewell=_describe_end)
    return 0


class _UiServer:
    """The server's process, which ends with the command."""

    def __init__(self, port: int, teams: Sequence[str], log: Path) -> None:
        self._teams, self._port, self._log = teams, port, log
        self._url = f"http://{HOST}:{port}"

    async def run(self, *, opens_browser: bool) -> None:
        """Start the process, open the page, and wait for the end of the process."""
        with self._log.open("wb") as out:
            process = await self._start(out.fileno())
        try:
            await self._wait_ready(process)
            _show_page(f"{self._url}{PAGE}", opens_browser=opens_browser)
            print_to_stderr(f"Ctrl-C ends the server; its log is {self._log}", style="dim")
            await process.wait()
            raise self._build_error("the development server has ended")
        finally:
            await _end_process(process)

    async def _start(self, out: int) -> Process:
        command = ("-m", "graph.server.development", str(self._port), *self._teams)
        # In a session of its own, Ctrl-C reaches this process alone, which then ends the other.
        return await asyncio.create_subprocess_exec(
            sys.executable, *command, stdout=out, stderr=out, start_new_session=True
        )

    async def _wait_ready(self, process: Process) -> None:
        """Return when the server answers.

        Raises:
            UiServerFailed: it has ended, or does not answer in time.
        """
        try:
            async with asyncio.timeout(START_TIMEOUT_S), httpx.AsyncClient(trust_env=False) as http:
                while process.returncode is None:
                    with contextlib.suppress(httpx.HTTPError):
                        if (await http.get(f"{self._url}/ok")).is_success:
                            return
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise self._build_error("the development server does not answer") from None
        raise self._build_error("the development server did not start")

    def _build_error(self, what: str) -> UiServerFailed:
        """Return an error with the last line of the server's log, or its own error's line."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        said = next((line for line in lines if line.startswith("error[")), (lines or [""])[-1])
        return UiServerFailed(
            what, cause=sanitize_line(said, MAX_SAID_CHARS), next=f"read its log, {self._log}"
        )


async def _end_process(process: Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(END_TIMEOUT_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _choose_port(port: int) -> int:
    """Return the port, or a free one if another program has it."""
    for each in (port, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, each))
            chosen: int = probe.getsockname()[1]
            if chosen != port:
                print_to_stderr(f"port {port} is taken: the server is at port {chosen}")
            return chosen
    return port


def _require_page(page: str) -> None:
    try:
        answer = httpx.get(page, timeout=ANSWER_TIMEOUT_S, trust_env=False)
    except httpx.HTTPError as error:
        raise ServerUnreachable(
            f"no connection to {httpx.URL(page).netloc.decode()}",
            cause=sanitize_line(str(error), MAX_SAID_CHARS) or type(error).__name__,
            next="is the server started, and --url its address?",
        ) from None
    if not answer.is_success:
        raise ServerUnreadable(
            f"{httpx.URL(page).netloc.decode()} has no live page",
            cause=f"HTTP {answer.status_code}",
            next="its configuration names graph.server.studio_access:app as http.app?",
        )


def _show_page(page: str, *, opens_browser: bool) -> None:
    """Print the address, and open it in a browser where there is one."""
    print_to_stdout(page)
    if opens_browser and not webbrowser.open(page):
        print_to_stderr("no browser was found: open the address in one")


def _describe_end() -> str:
    return "stopped. kept: the runs, in .langgraph_api. next: supervise ui"
