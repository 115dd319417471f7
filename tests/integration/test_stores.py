"""Where runs are kept: what is refused at the start, what fails on the way, and who may write."""

import asyncio
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graph import aresume, build_supervisor
from graph.runs.run_store import open_database
from graph.runs.trace import list_runs
from graph.settings import Settings
from graph.stores.errors import CheckpointUnreadable
from nodes.errors import StoreError
from tests.benchmarks.kills import run_trial
from tests.benchmarks.writers import run_contest, run_crowd
from tests.endpoint import script_tasks
from tests.runs import Runs
from tests.teams import make_team

pytestmark = pytest.mark.slow

CHAIN = {"A": (), "B": ("A",), "C": ("B",)}


def change_database(runs: Runs, *statements: str) -> None:
    """Change the database past everything of ours."""
    base = sqlite3.connect(runs.settings.resolve_database_path())
    with base:
        for statement in statements:
            base.execute(statement)
    base.close()


def write_foreign_database(path: Path) -> None:
    sqlite3.connect(path).execute("CREATE TABLE songs (title TEXT)").connection.close()


def truncate_file(path: Path) -> None:
    base = sqlite3.connect(path)
    with base:
        base.execute("CREATE TABLE checkpoints (thread_id TEXT)")
        base.executemany("INSERT INTO checkpoints VALUES (?)", [("x" * 999,)] * 99)
    base.close()
    path.write_bytes(path.read_bytes()[:50_000])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Path.touch, "it is empty"),
        (lambda path: path.write_bytes(b"not a database at all" * 100), "not a SQLite database"),
        (lambda path: path.write_bytes(b"SQLite format 3\x00" + b"x" * 5000), "cannot be used"),
        (write_foreign_database, "another application's: it holds songs"),
        (truncate_file, "malformed"),
    ],
)
async def test_a_file_that_is_not_ours_is_refused_and_stays_as_it_was(
    runs: Runs, make: Any, message: str
):
    path = runs.settings.resolve_database_path()
    make(path)
    before = path.read_bytes()

    with pytest.raises(StoreError, match=message) as caught:
        await runs.run(thread="one")

    assert caught.value.exit_code == 5
    assert path.read_bytes() == before
    assert not runs.requests


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE supervise_schema SET version = 99", "version 99"),
        ("UPDATE supervise_schema SET version = 0", "version 0"),
        ("DROP TABLE writes", "table writes is missing"),
        ("DROP TABLE supervise_schema", "another application's"),
    ],
)
async def test_tables_of_another_version_are_refused(runs: Runs, statement: str, message: str):
    async with open_database("earlier", runs.settings):
        pass
    change_database(runs, statement)
    before = runs.settings.resolve_database_path().read_bytes()

    with pytest.raises(StoreError, match=message):
        await runs.run(thread="one")

    assert runs.settings.resolve_database_path().read_bytes() == before
    assert not runs.requests


async def test_a_log_that_outlived_its_database_is_not_played_into_a_new_one(
    settings: Settings,
):
    path = settings.resolve_database_path()
    async with open_database("one", settings):
        log = path.with_name(path.name + "-wal")
        (saved := path.with_name("saved")).write_bytes(log.read_bytes())
    path.unlink()
    shutil.copy(saved, log)

    async with open_database("one", settings):
        pass

    with sqlite3.connect(path) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_file_that_is_removed_under_a_run_ends_it_with_what_was_finished(runs: Runs):
    runs.script(*script_tasks(CHAIN, latency_s={"B": 0.5}))
    running = asyncio.ensure_future(runs.run(thread="one"))
    await runs.wait_for_calls(began=3)

    runs.settings.resolve_database_path().unlink()
    outcome = await running

    assert outcome.error is not None and outcome.exit_code == 5
    assert "removed or replaced" in outcome.error.format_line()
    assert (
        "1 finished task in" in outcome.error.format_line()
        or "2 finished" in outcome.error.format_line()
    )
    assert outcome.results["A"].status == "completed"
    assert outcome.plan is not None


async def test_a_damaged_checkpoint_is_named(runs: Runs):
    runs.script(*script_tasks(CHAIN))
    await runs.run(thread="one")
    with sqlite3.connect(runs.settings.resolve_database_path()) as base:
        newest, blob = base.execute(
            "SELECT checkpoint_id, checkpoint FROM checkpoints WHERE checkpoint_ns = '' "
            "ORDER BY checkpoint_id DESC"
        ).fetchone()
        damaged = blob[:40] + bytes([blob[40] ^ 1]) + blob[41:]
        base.execute(
            "UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = ?", (damaged, newest)
        )
    base.close()

    with pytest.raises(CheckpointUnreadable) as caught:
        await runs.resume("one")

    line = caught.value.format_line()
    assert line.startswith("error[CHECKPOINT_UNREADABLE]") and caught.value.exit_code == 5
    assert "thread one" in line and newest in line


async def test_a_store_beside_the_checkpoints_keeps_what_outlives_a_thread(
    settings: Settings,
):
    async with open_database("one", settings) as database:
        await database.store.aput(("workers",), "researcher", {"runs": 1})
    async with open_database("two", settings) as database:
        found = await database.store.aget(("workers",), "researcher")
        graph = build_supervisor(make_team(), settings=settings, store=database.store)

    assert found and found.value == {"runs": 1}
    assert graph.store is database.store


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
async def test_a_store_that_is_closed_or_cut_while_it_opens_leaves_no_task(
    where: str, settings: Settings, request: pytest.FixtureRequest
):
    url = request.getfixturevalue("postgres_url") if where == "postgres" else settings.database_url
    own = settings.model_copy(update={"database_url": url})
    before = asyncio.all_tasks()

    async with open_database("one", own) as database:
        await database.store.aput(("workers",), "researcher", {"runs": 1})
    async with open_database("two", own) as database:
        asking = asyncio.create_task(database.store.aget(("workers",), "researcher"))
        await asyncio.sleep(0.005)
        asking.cancel()
        await asyncio.wait([asking])

    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
async def test_of_many_processes_on_one_thread_one_runs_and_nothing_is_lost(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
):
    url = request.getfixturevalue("postgres_url") if where == "postgres" else ""

    found = await asyncio.to_thread(run_contest, 2, tmp_path, url)

    assert (found.ran, found.refused, found.lost_updates) == (1, 1, 0)


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
async def test_many_threads_share_one_database(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
):
    url = request.getfixturevalue("postgres_url") if where == "postgres" else ""

    ended, _ = await run_crowd(10, tmp_path, url)

    assert ended == {"done": 10}, ended


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("where", ["sqlite", "postgres"])
async def test_a_run_that_is_killed_twice_ends_right_and_does_nothing_twice(
    where: str, request: pytest.FixtureRequest
):
    url = request.getfixturevalue("postgres_server_url") if where == "postgres" else ""

    found = await asyncio.to_thread(run_trial, 1, url=url, tasks=5, kills=2)

    assert found.is_right, found.output
    assert found.run_again == 0


@pytest.fixture
def far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A day that begins fourteen hours before that of Greenwich."""
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def test_k07_what_a_power_cut_would_leave_at_any_event_is_whole_and_goes_on(
    runs: Runs, tmp_path: Path
):
    runs.script(*script_tasks({"a": (), "b": (), "c": ("a", "b")}))
    copies: list[Path] = []

    def copy(event: Any) -> None:
        if event["kind"] in ("request", "task_started", "report", "synthesized"):
            copies.append(tmp_path / f"copy{len(copies)}")
            (copies[-1] / "traces").mkdir(parents=True)
            for name in ("runs.sqlite", "runs.sqlite-wal", "traces/one.jsonl"):
                shutil.copy(runs.settings.resolve_database_path().parent / name, copies[-1] / name)

    await runs.run(thread="one", on_event=copy)

    worked = []
    for folder in copies:
        with sqlite3.connect(folder / "runs.sqlite") as base:
            assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        base.close()
        before = len(runs.select_calls(schema="Report"))
        kept = runs.settings.model_copy(update={"database_url": f"sqlite:///{folder}/runs.sqlite"})
        assert (await aresume("one", settings=kept)).status == "done"
        worked.append(len(runs.select_calls(schema="Report")) - before)
    assert worked[0] == 3 and worked[-1] == 0
    assert worked == sorted(worked, reverse=True)


async def test_t03_times_are_those_of_utc_wherever_the_machine_is(runs: Runs, far_east: None):
    runs.script(*script_tasks({"a": ()}))

    await runs.run(thread="one")

    started = datetime.fromisoformat(list_runs(runs.settings)[0]["started"])
    assert started.utcoffset() == timedelta(0)
    assert abs(started - datetime.now(UTC)) < timedelta(hours=1)
