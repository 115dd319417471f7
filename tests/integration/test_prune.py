"""Pruning: what was chosen goes whole, and nothing else."""

import asyncio
import os
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graph.runs.pruning import PruneSelection, remove_runs
from graph.runs.run_store import open_database
from graph.runs.trace import get_draft_path, get_log_path, get_record_path, list_runs
from graph.settings import Settings
from graph.stores.run_database import build_thread_namespace
from graph.stores.thread_locks import get_lock_path
from nodes.errors import UsageError
from tests import postgres_server
from tests.command_process import CommandProcess
from tests.endpoint import script_tasks
from tests.runs import Runs
from tests.screen import CapturedScreen

pytestmark = pytest.mark.slow

DAY_S = 86_400.0


@pytest.fixture(params=["sqlite", "postgres"])
def each_store(request: pytest.FixtureRequest, runs: Runs) -> Runs:
    """Runs in each kind of database."""
    if request.param == "sqlite":
        return runs
    return runs.with_settings(database_url=request.getfixturevalue("postgres_url"))


async def run_on_threads(runs: Runs, *threads: str) -> None:
    """Run once on each thread; the first becomes the oldest, a day before the next."""
    runs.script(*script_tasks({"A": ()}))
    for age, thread in enumerate(reversed(threads)):
        await runs.run("Compare the parts.", thread=thread)
        moment = time.time() - age * DAY_S
        os.utime(get_log_path(thread, runs.settings), (moment, moment))


def list_threads(settings: Settings, table: str) -> set[str]:
    """List the threads that a table knows."""
    sql = f"SELECT DISTINCT thread_id FROM {table}"
    if settings.postgres_url:
        return {row[0] for row in postgres_server.run_query(settings.postgres_url, sql)}
    with sqlite3.connect(settings.resolve_database_path()) as base:
        return {row[0] for row in base.execute(sql)}


async def test_a_pruned_run_leaves_nothing_and_the_others_stay(each_store: Runs):
    await run_on_threads(each_store, "old.one", "new")
    async with open_database("old.one", each_store.settings) as database:
        await database.store.aput(
            (*build_thread_namespace("old.one"), "texts"), "A", {"text": "long"}
        )
        await database.store.aput(("workers",), "researcher", {"runs": 1})

    draft = get_draft_path(get_record_path("old.one", each_store.settings))
    draft.write_bytes(b"left by a kill")

    pruned = remove_runs(PruneSelection(older_than_s=DAY_S / 2), each_store.settings)

    assert not draft.exists()
    assert pruned.threads == ["old.one"] and pruned.freed_bytes > 1000
    assert (
        list_threads(each_store.settings, "checkpoints")
        == list_threads(each_store.settings, get_writes_table(each_store.settings))
        == {"new"}
    )
    assert [run["thread"] for run in list_runs(each_store.settings)] == ["new"]
    assert not get_lock_path("old.one", each_store.settings.home).exists()
    assert (
        not get_record_path("old.one", each_store.settings).exists()
        and get_record_path("new", each_store.settings).exists()
    )
    async with open_database("look", each_store.settings) as database:
        assert not await database.store.asearch(build_thread_namespace("old.one"))
        assert await database.store.aget(("workers",), "researcher")


async def test_records_alone_are_pruned_and_their_runs_stay(each_store: Runs):
    await run_on_threads(each_store, "old", "new")
    which = PruneSelection(older_than_s=DAY_S / 2, only_records=True)
    size = get_record_path("old", each_store.settings).stat().st_size

    pruned, again = (
        remove_runs(which, each_store.settings),
        remove_runs(which, each_store.settings),
    )

    assert (pruned.threads, pruned.freed_bytes, again.threads) == (["old"], size, [])
    assert list_threads(each_store.settings, "checkpoints") == {"old", "new"}
    assert {run["thread"] for run in list_runs(each_store.settings)} == {"old", "new"}
    assert [path.name for path in each_store.settings.home.glob("traces/*.record")] == [
        "new.record"
    ]
    assert (await each_store.run("And now?", thread="old")).exit_code == 0


def get_writes_table(settings: Settings) -> str:
    return "checkpoint_writes" if settings.postgres_url else "writes"


async def test_a_run_that_is_going_on_is_never_pruned(each_store: Runs):
    await run_on_threads(each_store, "busy", "idle")

    async with open_database("busy", each_store.settings):
        pruned = remove_runs(PruneSelection(), each_store.settings)

    assert (pruned.threads, pruned.still_running) == (["idle"], ["busy"])
    assert list_threads(each_store.settings, "checkpoints") == {"busy"}


async def test_two_processes_that_prune_at_once_remove_each_run_once_and_keep_the_rest(
    each_store: Runs, tmp_path: Path
):
    names = [f"t{number}" for number in range(12)]
    await run_on_threads(each_store, *names, "new")
    environment = {"SUPERVISE_DATABASE_URL": each_store.settings.database_url}

    prunes = [
        CommandProcess("runs", "--prune", "--keep", "1", folder=tmp_path, environment=environment)
        for _ in range(2)
    ]

    assert [await asyncio.to_thread(prune.wait) for prune in prunes] == [0, 0]
    assert not any("was kept" in prune.stderr for prune in prunes)
    assert sorted(name for prune in prunes for name in prune.stdout.split()) == sorted(names)
    assert list_threads(each_store.settings, "checkpoints") == {"new"}
    again = await each_store.run("And now?", thread="new")
    assert again.exit_code == 0


async def test_a_run_that_goes_on_at_another_machine_is_never_pruned(
    runs: Runs, postgres_url: str, tmp_path: Path, monkeypatch: Any
):
    kept = runs.with_settings(database_url=postgres_url)
    await run_on_threads(kept, "busy")
    here = Path.cwd()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    async with open_database("busy", kept.settings):
        monkeypatch.chdir(here)
        pruned = remove_runs(PruneSelection(), kept.settings)

    assert (pruned.threads, pruned.still_running) == ([], ["busy"])


@dataclass
class EndsWhenLookedAt:
    """Statuses to prune, for a run that ends right after it was looked at for the first time."""

    path: Path
    ending: list[str]

    def __contains__(self, status: object) -> bool:
        if self.ending:
            with self.path.open("a") as file:
                file.write(self.ending.pop())
        return status == "running"


async def test_a_run_that_ends_after_it_was_chosen_as_unended_stays(runs: Runs):
    await run_on_threads(runs, "one")
    path = get_log_path("one", runs.settings)
    *before, last = path.read_text().splitlines(keepends=True)
    path.write_text("".join(before))
    assert [run["status"] for run in list_runs(runs.settings)] == ["running"]

    statuses: Any = EndsWhenLookedAt(path, [last])
    pruned = remove_runs(PruneSelection(statuses=statuses), runs.settings)

    assert pruned.threads == []
    assert [run["status"] for run in list_runs(runs.settings)] == ["done"]
    assert list_threads(runs.settings, "checkpoints") == {"one"}


async def test_the_file_becomes_smaller(runs: Runs):
    await run_on_threads(runs, *(f"t{n}" for n in range(5)))
    before = runs.settings.resolve_database_path().stat().st_size

    remove_runs(PruneSelection(keep=1), runs.settings)

    assert runs.settings.resolve_database_path().stat().st_size < before / 2


async def test_the_options_choose_together(
    runs: Runs, supervise: CapturedScreen, monkeypatch: pytest.MonkeyPatch
):
    await run_on_threads(runs, "one", "two", "three")
    monkeypatch.setenv("SUPERVISE_DATABASE_URL", runs.settings.database_url)
    all_three = ["--keep", "1", "--older-than", "36h", "--status", "done,failed"]

    for options, removed in (
        (["--keep", "1", "--dry-run"], ["two", "one"]),
        (["--older-than", "36h", "--dry-run"], ["one"]),
        (["--older-than", "1w"], []),
        (["--status", "failed"], []),
        ([*all_three, "--dry-run"], ["one"]),
        (all_three, ["one"]),
    ):
        assert supervise("runs", "--prune", *options) == 0
        assert supervise.out.split() == removed
        assert f"{len(removed)} run" in supervise.err

    assert [run["thread"] for run in list_runs(runs.settings)] == ["three", "two"]


@pytest.mark.parametrize(
    "options", [{}, {"older_than": "soon"}, {"older_than": "-3d"}, {"status": "finished"}]
)
def test_what_is_not_clear_removes_nothing(options: dict[str, str]):
    with pytest.raises(UsageError):
        PruneSelection.from_options(
            keep=None, older_than=options.get("older_than"), status=options.get("status")
        )
