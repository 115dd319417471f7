"""`supervise mcp` over stdio, used by the public MCP client, with the embedded model."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, types

from graph.runs.runner import resume
from graph.runs.trace import load_trace
from graph.settings import Settings
from state import Context
from tests.integration.mcp_clients import (
    NOTES,
    REQUEST,
    TEAM,
    build_environment,
    connect_here,
    connect_stdio,
    read_text,
)
from tests.screen import CapturedScreen

pytestmark = pytest.mark.slow

UNUSABLE: list[tuple[str, dict[str, Any], str]] = [
    (TEAM, {}, "request: Field required"),
    (TEAM, {"request": 5}, "request: Input should be a valid string"),
    (TEAM, {"request": " "}, "REQUEST_INVALID"),
    (TEAM, {"request": "x", "materials": {"a": 1}}, "materials: "),
    (TEAM, {"request": "x", "materials": {"a": "b" * 5_000_001}}, "too large"),
    (TEAM, {"request": "x", "deadline_s": "soon"}, "deadline_s: "),
    (TEAM, {"request": "x", "colour": "red"}, "colour: Extra inputs"),
    (TEAM, {"request": "x", "files": ["/etc/passwd"]}, "outside the allowed folders"),
    (TEAM, {"request": "x", "files": ["link.md"]}, "outside the allowed folders"),
    (TEAM, {"request": "x", "files": [".env"]}, "it is hidden"),
    (TEAM, {"request": "x", "files": ["no.md"]}, "FILE_UNREADABLE"),
    (TEAM, {"request": "x", "files": ["a\0b"]}, "FILE_UNREADABLE"),
    (TEAM, {"request": "x", "thread": "unknown"}, "THREAD_UNKNOWN"),
    ("resume_run", {"thread": "../up"}, "THREAD_INVALID"),
    ("answer_question", {"thread": "unknown", "answer": "yes"}, "THREAD_UNKNOWN"),
    ("no_tool", {}, "no tool 'no_tool'"),
]
"""A tool, arguments that it cannot use, and a part of its error."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder with a document, in which server and test run."""
    made = tmp_path / "project"
    made.mkdir()
    for name, text in NOTES.items():
        (made / name).write_text(text)
    monkeypatch.chdir(made)
    return made


async def test_a_team_is_a_tool_whose_result_is_markdown_and_fields(folder: Path):
    async with connect_stdio(folder, TEAM) as (session, heard):
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        result = await session.call_tool(
            TEAM, {"request": REQUEST, "files": ["notes.md"]}, progress_callback=heard.note_progress
        )

    assert [*tools] == [TEAM, "answer_question", "resume_run"]
    assert tools[TEAM].inputSchema["required"] == ["request"] and tools[TEAM].outputSchema
    text, fields = read_text(result), result.structuredContent
    assert not result.isError and fields
    assert "9000 EUR" in text and "**Sources**" in text
    assert "**Confidence:**" not in text
    assert fields["status"] == "passages" and fields["answer"]["sources"] == ["notes.md"]
    assert fields["usage"]["model_calls"] > 0 and heard.log == [f"thread {fields['thread']}"]
    progress = [done for done, _, _ in heard.progress]
    assert progress == sorted(set(progress)) and heard.progress[-1][0] == heard.progress[-1][1]
    assert any("started" in str(text) for _, _, text in heard.progress)
    assert load_trace(fields["thread"], Settings())["run"]["status"] == "passages"


async def test_a_follow_up_continues_the_thread_with_its_materials(folder: Path):
    async with connect_here(TEAM) as (session, _):
        first = await session.call_tool(TEAM, {"request": REQUEST, "materials": NOTES})
        assert first.structuredContent
        thread = first.structuredContent["thread"]
        second = await session.call_tool(
            TEAM, {"request": "What does a heat pump move?", "thread": thread}
        )

    assert second.structuredContent and second.structuredContent["thread"] == thread
    assert "moves heat" in read_text(second)


async def test_a_plan_is_approved_in_the_clients_own_form(folder: Path):
    replies = {"decision": "accept"}
    async with connect_here(TEAM, context=Context(approve_plan=True), replies=replies) as (
        session,
        heard,
    ):
        result = await session.call_tool(TEAM, {"request": REQUEST, "materials": NOTES})

    assert [REQUEST in question for question in heard.questions] == [True]
    assert result.structuredContent and result.structuredContent["status"] == "passages"


@pytest.mark.parametrize("replies", [None, {}])
async def test_a_client_that_gives_no_reply_gets_the_question_and_answers_it_later(
    folder: Path, replies: dict[str, Any] | None
):
    async with connect_here(TEAM, context=Context(approve_plan=True), replies=replies) as (
        session,
        _,
    ):
        asked = await session.call_tool(TEAM, {"request": REQUEST, "materials": NOTES})
        assert asked.structuredContent
        answer = {"thread": asked.structuredContent["thread"], "answer": "accept"}
        ended = await session.call_tool("answer_question", answer)
        again = await session.call_tool("answer_question", answer)

    assert asked.structuredContent["status"] == "needs_input" and not asked.isError
    assert [each["kind"] for each in asked.structuredContent["questions"]] == ["plan"]
    assert "answer_question" in read_text(asked)
    assert ended.structuredContent and ended.structuredContent["status"] == "passages"
    assert again.isError and read_text(again).startswith("error[NOTHING_ASKED]")


async def test_what_cannot_be_used_is_a_tool_error_of_one_line(folder: Path):
    (folder / ".env").write_text("SECRET=1\n")
    (folder / "link.md").symlink_to("/etc/passwd")
    async with connect_here(TEAM) as (session, _):
        results = [(await session.call_tool(tool, given), said) for tool, given, said in UNUSABLE]

    for result, said in results:
        text = read_text(result)
        assert result.isError and said in text and "\n" not in text and len(text) < 1000


async def test_a_thread_of_a_team_that_is_not_served_is_refused(folder: Path):
    async with connect_here("tech_support") as (session, _):
        other = await session.call_tool("tech_support", {"request": REQUEST})
    assert other.structuredContent
    thread = other.structuredContent["thread"]
    async with connect_here(TEAM) as (session, _):
        result = await session.call_tool("resume_run", {"thread": thread})

    assert result.isError and "of another team" in read_text(result)


async def test_a_cancelled_request_cancels_the_run_which_can_be_resumed(folder: Path):
    async with connect_stdio(folder, TEAM, "--approve", replies={}) as (session, heard):
        begun = asyncio.Event()

        async def note(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        request = asyncio.create_task(
            session.call_tool(
                TEAM, {"request": REQUEST, "materials": NOTES}, progress_callback=note
            )
        )
        await begun.wait()
        await _cancel_request(session, 1)
        with pytest.raises(Exception, match="cancelled"):
            await request
        await heard.wait_for_lines(2)
        thread = heard.log[0].removeprefix("thread ")
        resumed = await session.call_tool("resume_run", {"thread": thread})

    assert f"cancelled. kept: thread {thread}" in heard.log[1]
    assert not resumed.isError and resumed.structuredContent


async def test_of_two_calls_at_once_on_a_thread_one_is_refused_and_the_other_answers(
    folder: Path,
):
    async with connect_here(TEAM) as (session, _):
        first = await session.call_tool(TEAM, {"request": REQUEST, "materials": NOTES})
        assert first.structuredContent
        again = {"request": REQUEST, "thread": first.structuredContent["thread"]}
        both = await asyncio.gather(*(session.call_tool(TEAM, again) for _ in range(2)))

    assert sorted(result.isError for result in both) == [False, True]
    assert [text for text in map(read_text, both) if text.startswith("error[THREAD_BUSY]")]


def test_the_run_of_a_client_that_goes_away_is_kept(folder: Path):
    lines: list[dict[str, Any]] = [
        {
            "method": "initialize",
            "id": 0,
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "x", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {
            "method": "tools/call",
            "id": 1,
            "params": {"name": TEAM, "arguments": {"request": REQUEST, "materials": NOTES}},
        },
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "graph.cli", "mcp", TEAM],
        cwd=folder,
        env=build_environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdin and server.stdout and server.stderr
    for line in lines:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n")
    server.stdin.flush()
    received: list[Any] = []
    while not any(each.get("method") == "notifications/message" for each in received):
        received.append(json.loads(server.stdout.readline()))
    server.stdin.close()
    rest, errors = server.stdout.read(), server.stderr.read()

    assert server.wait(20) == 0 and "Traceback" not in errors
    assert all(json.loads(line)["jsonrpc"] for line in rest.splitlines())
    thread = received[-1]["params"]["data"].removeprefix("thread ")
    assert resume(thread).status == "passages"


def test_a_team_that_does_not_exist_is_one_line(supervise: CapturedScreen):
    assert (supervise("mcp", "no_such_team"), supervise.out) == (2, "")
    assert supervise.err.startswith("error[TEAM_INVALID]") and supervise.err.count("\n") == 1


async def _cancel_request(session: ClientSession, number: int) -> None:
    await session.send_notification(
        types.ClientNotification(
            types.CancelledNotification(params=types.CancelledNotificationParams(requestId=number))
        )
    )
