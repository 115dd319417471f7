"""What a run keeps of itself: without secrets, for its user alone, and never at its own cost."""

import asyncio
import base64
import gzip
import logging
import os
import random
import resource
import signal
import stat
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from langchain_core.tools import tool

from extensions.replay.record_members import MAX_MEMBERS, finish_last_member
from extensions.replay.replayer import Replayed
from graph import aresume, arun
from graph.runs.trace import get_record_path
from graph.settings import Settings
from nodes.errors.redaction import register_secrets
from nodes.limits.patterns import Pattern
from state import Context
from tests.command_process import CommandProcess
from tests.endpoint import Endpoint, Scenario, ScriptedTask, script_tasks
from tests.runs import REQUEST, Runs
from tests.teams import write_team
from tests.unit.extensions.replay.kept_records import (
    make_counting_team,
    replay_file,
)

HANG_S = 40.0
SECRET = "tvly-0123456789/+abcd=x"
LONG_BASE64 = Pattern(r"[A-Za-z0-9+/]{40,}={0,2}")


@tool
def calculate(expression: str) -> str:
    """Calculate what the key costs."""
    return f"{expression} with {SECRET} is 12"


def replay(settings: Settings) -> Replayed:
    return replay_file(get_record_path("kept", settings))


async def test_a_known_secret_is_in_no_byte_of_a_record_and_the_replay_is_equal(runs: Runs) -> None:
    register_secrets([SECRET])
    said = {"status": "completed", "output": f"Part A costs 42 euros, says {SECRET}."}
    calls = (("calculate", {"expression": f"3*4 {SECRET}"}),)
    tasks = (ScriptedTask(id="A", tool_calls=calls, report=said), ScriptedTask(id="B"))
    runs.script(*tasks)
    made: dict[str, Any] = {"tools": {"calculate": calculate}, "settings": runs.settings}
    team = make_counting_team()
    first = team.workers[0].model_copy(update={"instructions": f"Work with {SECRET}."})
    team = team.model_copy(update={"workers": (first, *team.workers[1:])})
    materials = {"m.md": f"{SECRET}\n" + "The price is 42 euros.\n" * 100 + SECRET}

    request = f"{REQUEST} The key is {SECRET}."
    context = Context(approve_plan=True)
    await arun(request, team=team, materials=materials, thread="kept", context=context, **made)
    await aresume("kept", answer=f"reject: use {SECRET}", **made)
    outcome = await aresume("kept", answer="yes", **made)

    assert outcome.status == "done"
    plain = gzip.decompress(get_record_path("kept", runs.settings).read_bytes()).decode()
    assert "[secret]" in plain and SECRET not in plain
    decoded = b"".join(base64.b64decode(found[0]) for found in LONG_BASE64.finditer(plain))
    assert b"The price is 42 euros." in decoded and SECRET.encode() not in decoded
    done = await asyncio.to_thread(replay, runs.settings)
    assert done.is_equal and len(done.record.segments) == 3


async def test_a_record_is_for_its_user_alone_and_none_is_kept_where_it_is_off(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.script(*script_tasks({"A": ()}))
    monkeypatch.setenv("SUPERVISE_RECORD", "false")
    off = Settings(**runs.settings.model_dump(exclude_unset=True) | {"sources": None})
    for thread, used in (("kept", runs.settings), ("free", off)):
        outcome = await runs.run(settings=used, thread=thread)
        assert outcome.status == "done"

    assert not get_record_path("free", runs.settings).exists()
    mode = get_record_path("kept", runs.settings).stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def warn_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]


@pytest.mark.parametrize("hindrance", ["folder", "full", "members"])
async def test_a_record_that_cannot_be_written_is_said_once_and_the_run_goes_on(
    runs: Runs, caplog: pytest.LogCaptureFixture, hindrance: str
) -> None:
    runs.script(*script_tasks({"A": (), "B": ("A",)}))
    path, limits = get_record_path("kept", runs.settings), resource.getrlimit(resource.RLIMIT_FSIZE)
    path.parent.mkdir(parents=True)
    match hindrance:
        case "folder":
            path.mkdir()
        case "full":  # for a file of this size, so that the database has room
            noise = random.Random(1).randbytes(3_000_000)
            path.write_bytes(gzip.compress(noise, 0))
            size = path.stat().st_size + 4_000
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        case "members":
            path.write_bytes(gzip.compress(b"") * MAX_MEMBERS)
    try:
        outcome = await runs.run(thread="kept")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert outcome.status == "done"
    (line,) = warn_lines(caplog)
    assert "the run goes on" in line and str(path) in line


@pytest.mark.parametrize("damage", [b"no record", b"\x1f\x8b\x08 no more", b"\0" * 5_000])
async def test_a_run_over_a_damaged_record_keeps_its_own_part(runs: Runs, damage: bytes) -> None:
    runs.script(*script_tasks({"A": ()}))
    path = get_record_path("kept", runs.settings)
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)

    outcome = await runs.run(thread="kept")

    assert outcome.status == "done"
    assert (await asyncio.to_thread(replay, runs.settings)).is_equal


async def test_values_that_are_hard_to_write_are_kept_and_the_replay_is_equal(runs: Runs) -> None:
    odd = {"expression": "3*4", "$text": "x", "n": 10**30, "\ud800": "\ud800", "far": "é" * 3_000}
    tasks = (ScriptedTask(id="A", tool_calls=(("calculate", odd),)),)
    runs.script(*tasks)

    outcome = await runs.run(team=make_counting_team(), thread="kept")

    plain = gzip.decompress(get_record_path("kept", runs.settings).read_bytes())
    assert outcome.status == "done" and str(10**30).encode() in plain
    assert (await asyncio.to_thread(replay, runs.settings)).is_equal


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(st.data())
def test_a_record_that_a_kill_has_cut_is_ended_so_that_another_part_may_follow(
    kept: Path, tmp_path: Path, data: st.DataObject
) -> None:
    unzip, whole, path = zlib.decompressobj(31), kept.read_bytes(), tmp_path / "cut.record"
    unzip.decompress(whole)
    second = len(whole) - len(unzip.unused_data)
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])

    size = finish_last_member(path)
    path.write_bytes(path.read_bytes() + gzip.compress(b"{}\n"))

    plain = gzip.decompress(path.read_bytes()).removesuffix(b"{}\n")
    assert gzip.decompress(whole).startswith(plain) and len(plain) == size
    assert plain.endswith(b"\n") or not plain
    assert bool(plain) == (cut > second or b'"segment"' in plain)


def test_a_record_that_cannot_be_written_again_stays_as_it_is_and_no_draft_is_left(
    kept: Path, tmp_path: Path
) -> None:
    path, cut = tmp_path / "cut.record", kept.read_bytes()[:-9]
    path.write_bytes(cut)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError):
            finish_last_member(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert path.read_bytes() == cut and not list(tmp_path.glob(".*"))


@pytest.mark.slow
async def test_a_resume_after_a_kill_adds_a_part_and_the_whole_is_replayed_equal(
    settings: Settings, tmp_path: Path
) -> None:
    team = write_team(tmp_path / "parts", researcher="description: Looks at parts.")
    tasks = (ScriptedTask(id="A"), ScriptedTask(id="B", depends_on=("A",), latency_s=60.0))
    with Endpoint(Scenario(tasks=tasks)).run_in_thread() as served:
        shared = {"OPENAI_BASE_URL": served.base_url, "OPENAI_API_KEY": "sk-test-0123456789abcdef"}
        shared |= {"SUPERVISE_DATABASE_URL": settings.database_url}
        shared |= {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
        words = ("run", REQUEST, "--team", str(team), "--thread", "kept")
        child = CommandProcess(*words, folder=tmp_path, environment=shared)
        async with asyncio.timeout(HANG_S):
            while len(served.select_calls(schema="Report")) < 2:  # noqa: ASYNC110  # the endpoint has no event for it
                await asyncio.sleep(0.02)
        child.send_signal(signal.SIGKILL)
        await asyncio.to_thread(child.wait)
        served.load_scenario(Scenario(tasks=script_tasks({"A": (), "B": ("A",)})))
        own = settings.model_copy(update={"openai_base_url": served.base_url})
        outcome = await aresume("kept", settings=own)

    assert outcome.status == "done"
    done = await asyncio.to_thread(replay, settings)
    assert done.is_equal and [part.ended is None for part in done.record.segments] == [True, False]
    assert gzip.decompress(get_record_path("kept", settings).read_bytes()).count(b'"segment"') == 2
