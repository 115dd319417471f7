"""`supervise ui`: the live page of a server, or of one that it starts."""

import webbrowser
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

import httpx

from extensions.server.run_connection import ServerUnreachable, ServerUnreadable
from extensions.server.ui_server import UiServer, choose_port, hold_runs_folder
from graph.commands.cancellation import run_cancellable
from graph.display.stderr_console import print_to_stderr
from graph.display.streams import announce_start, print_to_stdout
from graph.settings import Settings
from graph.teams.team_loader import find_team, load_team
from nodes.errors import SettingsInvalid, UsageError
from nodes.models.settings import find_address_problem
from nodes.text.plain_text import sanitize_line

PAGE: Final = "/supervise/"
ANSWER_TIMEOUT_S: Final = 10.0
MAX_SAID_CHARS: Final = 300
SERVER_PACKAGE: Final = "langgraph_api"
MAX_PAGE_BYTES: Final = 65_536
PAGE_SIGN: Final = b'src="live.js"'
"""Is in the live page, and hardly in another one."""


class UiServerMissing(UsageError):
    """The development server is not installed."""

    code = "UI_SERVER_MISSING"


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
