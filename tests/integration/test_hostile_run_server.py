"""`--url` of a server that is away, refuses, is none, or sends what it should not."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from extensions.server.run_connection import is_open_to_network
from extensions.server.runs import MAX_PAGES
from nodes.net.connection import MAX_RESPONSE_BYTES
from tests.local_servers import QuietHandler, serve
from tests.screen import CapturedScreen

pytestmark = pytest.mark.slow

THREAD = {"thread_id": "t-1", "status": "idle", "metadata": {"graph_id": "market_analysis"}}
KEY = "server-key-0123456789abcdef"
RUN = {"request": "Compare.", "status": "done", "is_in_progress": False, "questions": []}
COMMANDS = (["runs"], ["show", "t-1"], ["trace", "t-1"], ["resume", "t-1"])


class ScriptedServer:
    """Answers every path that ends as a key says with its status, headers and body."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.build: dict[str, Callable[[], Any]] = {}
        """Makes the body of a path's next answer."""
        self.seen: list[dict[str, str]] = []
        self.url = ""

    def answer(self, path: str, body: Any, *, status: int = 200, **headers: str) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers[path] = (status, {"content-type": "application/json", **headers}, raw)

    def serve_trace(self, *entries: Any, **view: Any) -> None:
        lines = [each if isinstance(each, str) else json.dumps(each) for each in entries]
        self.answer("/threads/t-1", THREAD)
        values = {"view": 1, "team": "market_analysis", "run": RUN, "lines": lines, "next": None}
        self.answer("/state/checkpoint", {"values": values | view})
        self.answer("/threads/search", [THREAD])
        self.answer("/state", {"values": {}})

    def find(self, path: str) -> tuple[int, dict[str, str], bytes]:
        clean = path.partition("?")[0]
        for end, build in self.build.items():
            if clean.endswith(end):
                self.answer(end, build())
        found = (each for end, each in self.answers.items() if clean.endswith(end))
        return next(found, (404, {}, b"not here"))

    @contextmanager
    def run(self, port: int = 0) -> Iterator["ScriptedServer"]:
        script = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length") or 0))
                self.do_GET()

            def do_GET(self) -> None:
                script.seen.append({name.lower(): text for name, text in self.headers.items()})
                status, headers, body = script.find(self.path)
                self.answer(status, body, **headers)

        with serve(Handler, port) as self.url:
            yield self


class Screen(CapturedScreen):
    """The command line, which shows no key and fails in one line."""

    def __call__(self, *arguments: str) -> int:
        code = super().__call__(*arguments)
        assert "UNEXPECTED" not in self.err
        assert KEY not in self.out + self.err
        return code

    @property
    def error(self) -> str:
        """The code of the error, of which there is one line."""
        lines = [line for line in self.err.splitlines() if line.startswith("error[")]
        assert len(lines) == 1, self.err
        return lines[0].removeprefix("error[").partition("]")[0]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("SUPERVISE_SERVER_KEY", KEY)
    with ScriptedServer().run() as running:
        yield running


@pytest.fixture
def supervise(capsys: pytest.CaptureFixture[str]) -> Screen:
    return Screen(capsys)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_server_that_is_away_is_one_line(supervise: Screen, command: list[str]):
    assert supervise(*command, "--url", "http://127.0.0.1:9") == 5
    assert supervise.error == "SERVER_UNREACHABLE"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_name_the_setting(
    supervise: Screen, server: ScriptedServer, command: list[str], status: int
):
    server.answer("", {"detail": f"no {KEY}"}, status=status)

    assert supervise(*command, "--url", server.url) == 5
    assert supervise.error == "SERVER_UNAUTHORIZED"
    assert "SUPERVISE_SERVER_KEY" in supervise.err
    assert server.seen[0]["authorization"] == f"Bearer {KEY}"


def test_a_port_is_not_taken_for_a_status(supervise: Screen):
    with ScriptedServer().run(port=14220 + os.getpid() % 10) as server:
        server.answer("", b"null")

        assert supervise("show", "t-1", "--url", server.url) == 5
        assert supervise.error == "SERVER_UNREADABLE"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("body", [b"<html>welcome</html>", b"", b'"text"', b"[1, 2]", b"null"])
def test_another_web_server_is_recognised(
    supervise: Screen, server: ScriptedServer, command: list[str], body: bytes
):
    server.answer("", body)

    code = supervise(*command, "--url", server.url)

    if command == ["runs"] and body in (b"[1, 2]",):
        assert (code, supervise.out) == (0, "")
    else:
        assert code in (2, 5)
        assert supervise.error in ("SERVER_UNREADABLE", "THREAD_FOREIGN")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_redirect_is_not_followed_with_the_key(
    supervise: Screen, server: ScriptedServer, command: list[str]
):
    with ScriptedServer().run() as other:
        server.answer("", b"", status=307, location=f"{other.url}/threads/t-1")

        assert supervise(*command, "--url", server.url) == 5
        assert supervise.error == "SERVER_REFUSED"
        assert other.seen == []


@pytest.mark.parametrize("command", COMMANDS[1:])
def test_a_thread_that_is_not_there_is_a_usage_error(
    supervise: Screen, server: ScriptedServer, command: list[str]
):
    assert supervise(*command, "--url", server.url) == 2
    assert supervise.error == "THREAD_UNKNOWN"


@pytest.mark.parametrize("command", COMMANDS[1:])
@pytest.mark.parametrize("status", [404, 422, 500])
def test_a_thread_of_another_graph_is_named_so(
    supervise: Screen, server: ScriptedServer, command: list[str], status: int
):
    server.answer("/threads/t-1", THREAD)
    server.answer("/state/checkpoint", {"detail": "Subgraph not found"}, status=status)

    assert supervise(*command, "--url", server.url) == 2
    assert supervise.error == "THREAD_FOREIGN"


def test_threads_of_other_graphs_are_counted_not_listed(supervise: Screen, server: ScriptedServer):
    server.answer("/threads/search", [THREAD, {"thread_id": "t-2"}, 7])
    server.answer("/state/checkpoint", {"values": {"messages": []}})

    assert supervise("runs", "--url", server.url) == 0
    assert "not listed: 2 threads" in supervise.err


def test_too_large_an_answer_is_not_read(supervise: Screen, server: ScriptedServer):
    server.answer("", b'"' + b"x" * (MAX_RESPONSE_BYTES + 1) + b'"')

    assert supervise("show", "t-1", "--url", server.url) == 5
    assert "20 MB" in supervise.err


BROKEN = [
    "not json",
    "[" * 100_000,
    {"kind": "report", "t": "soon"},
    {"kind": "plan_created", "t": 0.1, "plan": {"tasks": [{"id": 1}]}},
    {"kind": "report", "t": 0.1, "task": "A", "report": {"status": ["x"]}},
    {"kind": "answer", "t": 0.1, "answer": {"text": 5}, "usage": [], "timing": 3, "status": "done"},
    {"kind": "answer", "t": 0.1},
    {"kind": ["list"], "t": 0.1},
    {"kind": "request", "t": -5, "request": "x"},
    {"kind": "request", "t": 0.1, "request": {"a": 1}},
    {"run": 7},
    {"asked": "what"},
    {"resumed": {"deep": [1]}},
    {"other": 1},
    7,
]


@pytest.mark.parametrize("command", [["show", "t-1"], ["trace", "t-1"], ["resume", "t-1"]])
def test_entries_that_cannot_be_read_are_left_out_and_counted(
    supervise: Screen, server: ScriptedServer, command: list[str]
):
    good = {"kind": "request", "t": 0.0, "request": "Compare.", "task": "", "worker": ""}
    server.serve_trace(good, *BROKEN)

    assert supervise(*command, "--url", server.url) == 0
    assert "of the trace could not be read" in supervise.err


@pytest.mark.parametrize("command", [["show", "t-1"], ["trace", "t-1"], ["resume", "t-1"]])
def test_a_trace_of_endless_pages_is_not_read(
    supervise: Screen, server: ScriptedServer, command: list[str]
):
    asked: list[int] = []

    def next_page() -> dict[str, Any]:
        asked.append(len(asked))
        return {"values": {"view": 1, "run": RUN, "lines": ["x"], "next": len(asked)}}

    server.serve_trace()
    server.build = {"/state/checkpoint": next_page}

    assert supervise(*command, "--url", server.url) == 5
    assert supervise.error == "SERVER_UNREADABLE"
    assert len(asked) <= MAX_PAGES


@pytest.mark.parametrize("command", COMMANDS)
def test_control_characters_and_markup_reach_no_terminal(
    supervise: Screen, server: ScriptedServer, command: list[str]
):
    hostile = "\x1b]0;owned\x07\x1b[2J\u202eevil[bold]x[/bold]<script>"
    request = {"kind": "request", "t": 0.0, "request": hostile, "task": hostile, "team": hostile}
    error = {"kind": "error", "t": 0.1, "code": hostile, "message": hostile}
    asked = [{"id": "1", "kind": "question", "question": hostile, "problems": [hostile, 5]}]
    run = RUN | {"request": hostile, "status": hostile, "started": hostile, "questions": asked}
    server.serve_trace(request, error, {"run": {"team": hostile}}, run=run, team=hostile)

    supervise(*command, "--url", server.url)

    shown = supervise.out + supervise.err
    assert not any(c in shown for c in "\x1b\x07\u202e")


@pytest.mark.parametrize(
    "questions",
    [
        7,
        [7],
        [{"id": 5}],
        [{"id": "1", "kind": "plan", "plan": {}}],
        [{"id": "1", "kind": "tool_call", "tool": 5}],
        [{"id": "1", "kind": "plan", "plan": None, "problems": 7}],
    ],
)
def test_questions_of_any_form_are_shown_or_left_out(
    supervise: Screen, server: ScriptedServer, questions: Any
):
    server.serve_trace(run=RUN | {"questions": questions})

    assert supervise("show", "t-1", "--url", server.url) == 0
    assert supervise("resume", "t-1", "--url", server.url) in (0, 7)


def test_an_address_that_is_none_is_refused_before_a_call(supervise: Screen):
    for url in ("ftp://x", "http://", "http://user:pw@host", "nonsense"):
        assert supervise("runs", "--url", url) == 2
        assert supervise.error == "SETTINGS_INVALID"
        assert "pw@" not in supervise.err


def test_pruning_is_for_runs_of_this_machine(supervise: Screen):
    assert supervise("runs", "--prune", "--url", "http://127.0.0.1:9") == 2


@pytest.mark.parametrize(
    ("url", "is_open"),
    [
        ("http://127.0.0.1:2024", False),
        ("http://[::1]:2024", False),
        ("http://localhost", False),
        ("https://runs.example.org", False),
        ("http://runs.example.org", True),
        ("http://10.0.0.7:2024", True),
        ("http://localhost.example.org", True),
    ],
)
def test_an_address_that_others_can_listen_to_is_known(url: str, is_open: bool):
    assert is_open_to_network(url) is is_open


def test_a_key_that_would_be_sent_in_the_open_is_warned_of(
    supervise: Screen, server: ScriptedServer
):
    assert supervise("runs", "--url", "http://runs.invalid") == 5
    assert "sent to runs.invalid without encryption" in supervise.err
