"""`supervise ui`: the live page of a server, or of one that it starts and that ends with it."""

import asyncio
import contextlib
import os
import socket
import sys
import webbrowser
from asyncio.subprocess import Process
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import httpx
from filelock import FileLock, Timeout

from extensions.server.run_connection import ServerUnreachable, ServerUnreadable
from graph.commands.cancellation import run_cancellable
from graph.display.stderr_console import print_to_stderr
from graph.display.streams import announce_start, print_to_stdout
from graph.settings import Settings
from graph.teams.team_loader import find_team, load_team
from graph.user_state import SERVER_FOLDER, is_own_folder, mark_own_folder
from nodes.errors import OutputFailed, SettingsInvalid, SupervisorError, UsageError
from nodes.models.settings import find_address_problem
from nodes.security.private_files import make_private_folder, open_private_file
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_packages import IMPORT_ROOT

HOST: Final = "127.0.0.1"
START_TIMEOUT_S: Final = 90.0
POLL_S: Final = 0.2
END_TIMEOUT_S: Final = 5.0
MAX_SAID_CHARS: Final = 300
START_PROGRAM: Final = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from extensions.server.development import main
sys.exit(main())
"""
"""Imports nothing from the current folder, where a user may have modules of our names."""


class UiServerRunning(UsageError):
    """A development server keeps its runs in this folder already."""


class RunsUntrusted(UsageError):
    """The kept runs may be of another user."""


class UiServerFailed(SupervisorError):
    """The development server did not start, or has ended by itself."""

    exit_code = 5


@contextlib.contextmanager
def hold_runs_folder() -> Iterator[Callable[[str], object]]:
    """Keep other servers from the folder of the runs; yield what notes this one's address.

    Raises:
        UiServerRunning, OutputFailed: another server has it, or it cannot be written.
        RunsUntrusted: it came with the folder.
    """
    address = SERVER_FOLDER / "ui.address"
    try:
        _require_own_runs()
        with FileLock(SERVER_FOLDER / "ui.lock", timeout=0, is_singleton=False):
            yield address.write_text
    except Timeout:
        url = address.read_text() if address.exists() else "http://127.0.0.1:2024"
        raise UiServerRunning(
            "a development server keeps its runs in this folder already",
            next=f"supervise ui --url {sanitize_line(url, 80)}",
        ) from None
    except OSError as error:
        raise OutputFailed(
            f"cannot write {error.filename or SERVER_FOLDER}",
            cause=error.strerror or str(error),
            next="start it in another folder",
        ) from None


def _require_own_runs() -> None:
    """Create the folder of the runs; refuse one of unknown origin, since LangGraph unpickles it.

    Raises:
        RunsUntrusted: another user's process, or none of this application, made it.
        OSError: it cannot be created.
    """
    make_private_folder(SERVER_FOLDER)
    if is_own_folder(SERVER_FOLDER):
        return
    if SERVER_FOLDER.is_symlink() or any(SERVER_FOLDER.iterdir()):
        raise RunsUntrusted(
            f"{SERVER_FOLDER} is not marked as made by you here",
            cause="it came with this folder, or another version or program made it; "
            "to load its runs runs code that is in them",
            kept="it is unchanged",
            next=f"if the runs are yours: supervise trust --runs; else move {SERVER_FOLDER} away",
        )
    mark_own_folder(SERVER_FOLDER)


def choose_port(port: int) -> int:
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


class UiServer:
    """The server's process, which ends with the command."""

    def __init__(
        self, port: int, teams: Sequence[str], log: Path, show: Callable[[str], None]
    ) -> None:
        self._teams, self._port, self._log, self._show = teams, port, log, show
        self.url = f"http://{HOST}:{port}"

    async def run(self) -> None:
        """Start the process, show its page, and wait for the end of the process.

        Raises:
            UiServerFailed: it did not start, or has ended.
        """
        make_private_folder(self._log.parent)
        out = open_private_file(str(self._log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            process = await self._start(out)
        finally:
            os.close(out)
        try:
            await self._wait_ready(process)
            self._show(self.url)
            print_to_stderr(f"Ctrl-C ends the server; its log is {self._log}", style="dim")
            await process.wait()
            raise self._build_error("the development server has ended")
        finally:
            await _end_process(process)

    async def _start(self, out: int) -> Process:
        # In a session of its own, Ctrl-C reaches this process alone, which then ends the other.
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", START_PROGRAM, str(IMPORT_ROOT)),
            *(str(self._port), *self._teams),
            stdin=asyncio.subprocess.PIPE,  # it ends with it, also where this process is killed
            stdout=out,
            stderr=out,
            start_new_session=True,
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
                        if (await http.get(f"{self.url}/ok")).is_success:
                            return
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise self._build_error("the development server does not answer") from None
        raise self._build_error("the development server did not start")

    def _build_error(self, what: str) -> UiServerFailed:
        """Return an error with the last line of the server's log, or its own error's line."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        said = next((line for line in lines if line.startswith("error[")), (lines or [""])[-1])
        if said.startswith("error["):
            said = said.partition("] ")[2]
        cause = sanitize_line(said, MAX_SAID_CHARS)
        return UiServerFailed(what, cause=cause, next=f"read its log, {self._log}")


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


PAGE: Final = "/supervise/"
ANSWER_TIMEOUT_S: Final = 10.0
SERVER_PACKAGE: Final = "langgraph_api"
MAX_PAGE_BYTES: Final = 65_536
PAGE_SIGN: Final = b'src="live.js"'
"""Is in the live page, and hardly in another one."""


class UiServerMissing(UsageError):
    """The development server is not installed."""


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
        TeamInvalid: a team of the command line cannot be loaded.
        UiServerRunning: another server keeps its runs in this folder.
        OutputFailed: a file that it writes cannot be written.
        UiServerFailed: it did not start, or has ended.
    """
    if find_spec(SERVER_PACKAGE) is None:
        raise UiServerMissing(
            "the development server is not installed",
            next="supervise install ui, or open another server's page with --url; "
            "in a checkout bin/supervise ui installs it",
        )
    for team in teams:
        load_team(find_team(team, settings), settings)
    log = settings.home / "ui.log"

    def show(address: str) -> None:
        _show_page(f"{address}{PAGE}", opens_browser=opens_browser)

    with hold_runs_folder() as note_address:
        server = UiServer(choose_port(port), tuple(teams), log, show)
        note_address(server.url)
        announce_start("starting the development server")
        run_cancellable(server.run(), farewell=_describe_end)
    return 0


def _require_page(page: str) -> None:
    """Check that a server has the live page of this application.

    Raises:
        ServerUnreachable, ServerUnreadable: no server answers, or it has none.
    """
    try:
        with httpx.stream("GET", page, timeout=ANSWER_TIMEOUT_S, trust_env=False) as answer:
            found = next(answer.iter_bytes(MAX_PAGE_BYTES), b"")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ServerUnreachable(
            f"no connection to {httpx.URL(page).netloc.decode()}",
            cause=sanitize_line(str(error), MAX_SAID_CHARS) or type(error).__name__,
            next="is the server started, and --url its address?",
        ) from None
    if not answer.is_success or PAGE_SIGN not in found:
        raise ServerUnreadable(
            f"{httpx.URL(page).netloc.decode()} has no live page",
            cause="another page" if answer.is_success else f"HTTP {answer.status_code}",
            next="its configuration names extensions.server.studio_access:app as http.app?",
        )


def _show_page(page: str, *, opens_browser: bool) -> None:
    """Print the address, and open it in a browser where there is one."""
    print_to_stdout(page)
    if opens_browser and not webbrowser.open(page):
        print_to_stderr("no browser was found: open the address in one")


def _describe_end() -> str:
    return "stopped. kept: the runs, in .langgraph_api. next: supervise ui"
