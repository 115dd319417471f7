"""Runs of `langgraph dev`, listed, shown, traced and resumed from another process."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient

from extensions.server.run_resume import aresume_on_server
from extensions.server.runs import alist_server_runs, aload_server_trace
from graph import arun
from graph.commands.runs import find_thread, open_runs
from graph.runs.trace import load_trace
from graph.settings import Settings
from nodes.errors import ThreadBusy
from tests.endpoint import Endpoint, Fault, Scenario, script_tasks
from tests.integration.dev_server import PARTS, QUESTION, REQUEST, ROOT, TEAM, DevServer, run_to_end
from tests.trusted_files import list_user_folders

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("langgraph_dev")]


def list_kinds(trace: dict[str, Any]) -> list[str]:
    return sorted(event["kind"] for event in trace["events"])


async def wait_for_tasks(server: DevServer, thread: str, *, working: int) -> None:
    while True:
        tasks = (await aload_server_trace(thread, server.url))["tasks"]
        if sum(task["status"] == "working" for task in tasks) >= working:
            return
        await asyncio.sleep(0.1)  # another process works


async def test_the_trace_of_a_server_is_that_of_the_same_run_here(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    settings = Settings(openai_base_url=played.base_url, openai_api_key="sk-test")
    here = load_trace((await arun(QUESTION, settings=settings)).thread, settings)

    await run_to_end(client, thread, REQUEST)
    there = await aload_server_trace(thread, server.url)

    assert here["run"]["status"] == there["run"]["status"] == "done"
    assert list(there) == list(here)
    assert set(there["run"]) == set(here["run"])
    assert list_kinds(there) == list_kinds(here)
    assert [task["status"] for task in there["tasks"]] == ["completed", "completed"]
    assert there["usage"]["model_calls"] == here["usage"]["model_calls"]


async def test_runs_are_listed_the_newest_first(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    await client.threads.create()  # holds no run
    await run_to_end(client, thread, REQUEST)

    found = await alist_server_runs(server.url)

    newest = found.runs[0]
    assert (newest["thread"], newest["team"], newest["status"]) == (thread, TEAM, "done")
    assert newest["request"] == QUESTION and newest["wall_s"] > 0
    assert found.foreign >= 1


async def test_a_question_is_shown_and_answered(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    await run_to_end(client, thread, REQUEST, context={"approve_plan": True})
    waiting = await aload_server_trace(thread, server.url)
    events: list[Any] = []

    unanswered = await aresume_on_server(thread, server.url)
    outcome = await aresume_on_server(thread, server.url, answer="accept", on_event=events.append)
    ended = await aload_server_trace(thread, server.url)

    assert waiting["run"]["status"] == unanswered.status == "needs_input"
    assert [question["kind"] for question in waiting["run"]["questions"]] == ["plan"]
    assert (outcome.status, outcome.exit_code) == ("done", 0)
    assert outcome.answer and set(outcome.results) == {"A", "B"}
    assert "report" in {event["kind"] for event in events}
    assert (ended["run"]["status"], ended["run"]["resumed"]) == ("done", 1)


async def test_a_failed_run_is_resumed_and_has_one_trace(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    played.load_scenario(Scenario(tasks=PARTS, faults=(Fault(kind="unauthorized", schema="Plan"),)))
    await run_to_end(client, thread, REQUEST)
    failed = await aload_server_trace(thread, server.url)
    played.load_scenario(Scenario(tasks=PARTS))

    outcome = await aresume_on_server(thread, server.url)
    ended = await aload_server_trace(thread, server.url)

    assert failed["run"]["status"] == "failed"
    assert failed["events"][-1]["code"] == "UNAUTHORIZED"
    assert outcome.status == "done"
    assert (ended["run"]["status"], ended["run"]["resumed"]) == ("done", 1)
    times = [event["t"] for event in ended["events"]]
    assert times == sorted(times)


async def test_a_run_at_work_is_followed_and_takes_no_answer(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    played.load_scenario(Scenario(tasks=PARTS, latency_s={"Report": 1.5}))
    await client.runs.create(thread, TEAM, input=REQUEST, stream_resumable=True)
    await wait_for_tasks(server, thread, working=1)
    events: list[Any] = []

    with pytest.raises(ThreadBusy):
        await aresume_on_server(thread, server.url, answer="accept")
    outcome = await aresume_on_server(thread, server.url, on_event=events.append)

    assert outcome.status == "done"
    assert len(await client.runs.list(thread)) == 1
    assert "answer" in {event["kind"] for event in events}


async def test_ctrl_c_leaves_the_run_of_the_server_at_work(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint, tmp_path: Path
):
    row = script_tasks({"A": (), "B": ("A",), "C": ("B",), "D": ("C",)})
    played.load_scenario(Scenario(tasks=row, latency_s={"Report": 2.0}))
    run = await client.runs.create(thread, TEAM, input=REQUEST, stream_resumable=True)
    await wait_for_tasks(server, thread, working=1)
    command = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "graph.cli", "resume", thread, "--url", server.url),
        cwd=tmp_path,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), **list_user_folders()},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert command.stderr
    heard = await command.stderr.readuntil(b"researcher done")  # an event that it has followed

    command.send_signal(signal.SIGINT)
    said = heard + await command.stderr.read()

    assert await command.wait() == 130
    assert b"left: the run continues on 127.0.0.1" in said
    assert f"supervise resume {thread} --url {server.url}".encode() in said
    await client.runs.join(thread, run["run_id"])
    assert (await aload_server_trace(thread, server.url))["run"]["status"] == "done"


async def test_a_deleted_thread_takes_its_trace_with_it(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    await run_to_end(client, thread, REQUEST)
    await client.threads.delete(thread)
    await client.threads.create(thread_id=thread)
    await client.runs.wait(thread, TEAM, input={"request": "Compare them again."})

    trace = await aload_server_trace(thread, server.url)

    assert [event["kind"] for event in trace["events"]].count("request") == 1


async def test_a_thread_of_a_server_is_named_as_the_last_or_by_its_beginning(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    await run_to_end(client, thread, REQUEST)
    names = ["last", thread[:13], thread, "no-such-thread"]

    runs = open_runs(server.url, Settings())
    found = [await asyncio.to_thread(find_thread, name, runs) for name in names]

    assert found == [thread, thread, thread, "no-such-thread"]


async def test_a_run_in_the_queue_is_listed_and_shown(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    run = await client.runs.create(thread, TEAM, input=REQUEST, after_seconds=600)

    listed = await alist_server_runs(server.url)
    trace = await aload_server_trace(thread, server.url)
    await client.runs.cancel(thread, run["run_id"])

    assert [run["status"] for run in listed.runs if run["thread"] == thread] == ["running"]
    assert (trace["run"]["status"], trace["tasks"]) == ("running", [])


async def test_a_cancelled_run_is_stopped_and_can_be_resumed(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    played.load_scenario(Scenario(tasks=PARTS, latency_s={"Report": 1.5}))
    run = await client.runs.create(thread, TEAM, input=REQUEST)
    await wait_for_tasks(server, thread, working=1)
    await client.runs.cancel(thread, run["run_id"], wait=True)
    stopped = await aload_server_trace(thread, server.url)
    played.load_scenario(Scenario(tasks=PARTS))

    outcome = await aresume_on_server(thread, server.url)

    assert stopped["run"]["status"] == "stopped"
    assert outcome.status == "done"


async def test_the_inbox_lists_and_answers_what_waits_on_a_server(
    client: LangGraphClient, thread: str, server: DevServer, played: Endpoint
):
    await run_to_end(client, thread, REQUEST, context={"approve_plan": True})
    command = (sys.executable, "-m", "graph.cli", "inbox", "--url", server.url)

    async def call(*options: str) -> tuple[int, str]:
        how: dict[str, Any] = {"cwd": ROOT, "stdout": PIPE, "stderr": DEVNULL}
        child = await asyncio.create_subprocess_exec(*command, *options, **how)
        out, _ = await child.communicate()
        return child.returncode or 0, out.decode()

    listed = json.loads((await call("--json"))[1])["waiting"]
    code, out = await call("--answer", f"{thread}=accept", "--json")
    left = json.loads((await call("--json"))[1])["waiting"]

    (found,) = [each for each in listed if each["thread"] == thread]
    assert found["questions"][0]["blocks"] == ["A", "B"] and found["team"] == TEAM
    assert found["next"] == f"supervise resume {thread} --url {server.url} --answer accept"
    (ended,) = json.loads(out)["answered"]
    assert code == 0 and (ended["thread"], ended["status"], ended["exit_code"]) == (
        thread,
        "done",
        0,
    )
    assert ended["answer"]["text"]
    assert thread not in [each["thread"] for each in left]
