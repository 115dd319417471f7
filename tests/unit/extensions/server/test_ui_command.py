"""`supervise ui`: the page of a server that runs, and of one that it starts."""

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from extensions.server import ui
from extensions.server.development import add_graphs
from extensions.server.live_page import list_page_routes
from extensions.server.ui import hold_runs_folder
from graph.commands.scaffold import make_team
from tests.local_servers import QuietHandler, find_free_port, serve
from tests.screen import run_supervise

ROOT = Path(__file__).parents[4]


def answer_all(status: int, body: bytes = b"") -> type[QuietHandler]:
    """Return what answers every request with a status and a body."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.answer(status, body)

    return Handler


def run_ui(*options: str) -> int:
    return run_supervise("ui", "--no-browser", *options)


def test_the_page_of_a_server_is_printed(capsys: pytest.CaptureFixture[str]):
    (page,) = [route for route in list_page_routes() if route.path == "/supervise/"]
    body = TestClient(Starlette(routes=[page])).get("/supervise/").content
    with serve(answer_all(200, body)) as url:
        assert run_ui("--url", url) == 0

    assert capsys.readouterr().out == f"{url}/supervise/\n"


def test_a_server_without_the_page_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]):
    with serve(answer_all(404)) as url:
        assert run_ui("--url", url) == 5

    said = capsys.readouterr().err.strip()
    assert said.startswith("error[SERVER_UNREADABLE]")
    assert "has no live page: HTTP 404" in said
    assert "\n" not in said


def test_another_page_is_not_taken_for_the_live_page(capsys: pytest.CaptureFixture[str]):
    with serve(answer_all(200, b"<title>A router</title>" * 10_000)) as url:
        assert run_ui("--url", url) == 5

    shown = capsys.readouterr()
    assert "has no live page: another page" in shown.err
    assert shown.out == ""


def test_a_server_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]):
    assert run_ui("--url", f"http://127.0.0.1:{find_free_port()}") == 5

    assert "error[SERVER_UNREACHABLE] no connection to 127.0.0.1:" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["127.0.0.1:2024", "ftp://x", "", f"http://{'a' * 64}.org"])
def test_an_address_that_is_none_is_refused(url: str, capsys: pytest.CaptureFixture[str]):
    assert run_ui("--url", url) == 2

    assert "error[SETTINGS_INVALID] --url" in capsys.readouterr().err


def test_a_missing_development_server_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(ui, "SERVER_PACKAGE", "no_such_package_of_a_server")

    assert run_ui() == 2

    said = capsys.readouterr().err.strip()
    assert said.startswith("error[UI_SERVER_MISSING]")
    assert "supervise install ui" in said


@pytest.mark.parametrize("blocked", [".langgraph_api", ".supervise"])
def test_a_folder_that_cannot_be_written_is_one_line(
    blocked: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    Path(blocked).touch()

    assert run_ui("--port", str(find_free_port())) == 2

    assert f"{blocked}: File exists. next: start it in another folder" in capsys.readouterr().err


def test_a_second_server_of_a_folder_is_refused_with_the_address_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    with hold_runs_folder() as note_address:
        note_address("http://127.0.0.1:2099")
        assert run_ui() == 2

    said = capsys.readouterr().err
    assert said.startswith("error[UI_SERVER_RUNNING]")
    assert "next: supervise ui --url http://127.0.0.1:2099" in said


def test_teams_may_have_the_names_that_their_module_uses(tmp_path: Path):
    for name in ("one/load_team", "one/add_graphs", "two/load_team"):
        make_team(Path(name).name, tmp_path / Path(name).parent)

    places, problems = add_graphs(sorted(tmp_path.glob("*/*")))

    assert sorted(places) == ["add_graphs", "load_team"]
    for name, place in places.items():
        module, _, attribute = place["path"].partition(":")
        assert vars(sys.modules[module])[attribute].name == name
    assert problems == ["team load_team is left out: another team has this name; rename its folder"]


def _heed_signals() -> None:
    """Heed what a test that is run under nohup, or in the background, would ignore."""
    for each in (signal.SIGHUP, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_server_is_started_with_the_page_and_ends_with_the_command(
    tmp_path: Path, ending: signal.Signals
):
    port = find_free_port()
    command = [sys.executable, "-m", "graph.cli", "ui", "--no-browser", "--port", str(port)]
    started = subprocess.Popen(
        [*command, "market_analysis"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_signals,
    )
    try:
        assert started.stdout is not None
        page = started.stdout.readline().strip()
        assert page == f"http://127.0.0.1:{port}/supervise/"
        with urllib.request.urlopen(page) as answer:
            assert b"live.js" in answer.read()
        started.send_signal(ending)
        _, said = started.communicate(timeout=60)
    finally:
        started.kill()
        started.wait()
    assert ("stopped. kept: the runs" in said) == (ending == signal.SIGINT)
    wait_for_end(port)


def wait_for_end(port: int) -> None:
    """Return when no server has the port."""
    ends_s = time.monotonic() + 60.0
    while time.monotonic() < ends_s:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return
        time.sleep(0.05)  # the server is another process
    raise AssertionError("the server has not ended")


@pytest.mark.slow
def test_an_unknown_team_ends_the_start_with_its_own_error(tmp_path: Path):
    ended = subprocess.run(
        [sys.executable, "-m", "graph.cli", "ui", "--no-browser", "no_such_team"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("error[TEAM_INVALID] unknown team 'no_such_team'")
