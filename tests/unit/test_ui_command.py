"""`supervise ui`: the page of a server that runs, and of one that it starts."""

import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from graph.cli import main
from graph.commands import ui

ROOT = Path(__file__).parents[2]


def run_ui(*options: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(("ui", "--no-browser", *options))
    return int(ended.value.code or 0)


@contextmanager
def serve(status: int) -> Iterator[str]:
    """Answer every request with a status."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Write no line for a request."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_the_page_of_a_server_is_printed(capsys: pytest.CaptureFixture[str]):
    with serve(200) as url:
        assert run_ui("--url", url) == 0

    assert capsys.readouterr().out == f"{url}/supervise/\n"


def test_a_server_without_the_page_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]):
    with serve(404) as url:
        assert run_ui("--url", url) == 5

    said = capsys.readouterr().err.strip()
    assert said.startswith("error[SERVER_UNREADABLE]")
    assert "has no live page: HTTP 404" in said
    assert "\n" not in said


def test_a_server_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]):
    assert run_ui("--url", f"http://127.0.0.1:{find_free_port()}") == 5

    assert "error[SERVER_UNREACHABLE] no connection to 127.0.0.1:" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["127.0.0.1:2024", "ftp://x", ""])
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
    assert "pip install 'supervisor-worker[ui]'" in said


@pytest.mark.slow
def test_a_server_is_started_with_the_page_and_ends_with_the_command(tmp_path: Path):
    port = find_free_port()
    command = [sys.executable, "-m", "graph.cli", "ui", "--no-browser", "--port", str(port)]
    started = subprocess.Popen(
        [*command, "market_analysis"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout is not None
        page = started.stdout.readline().strip()
        assert page == f"http://127.0.0.1:{port}/supervise/"
        with urllib.request.urlopen(page) as answer:
            assert b"live.js" in answer.read()
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=20)
    finally:
        started.kill()
        started.wait()
    assert "stopped. kept: the runs" in said
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


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
    assert ended.returncode == 5
    assert "unknown team 'no_such_team'" in ended.stderr
