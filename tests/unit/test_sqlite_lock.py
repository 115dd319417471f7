"""A run database that another program has locked: a notice, an error in time, no loss."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from graph import arun
from graph.commands.doctor import check_database
from graph.runs.run_store import open_database
from graph.runs.runner import aresume
from graph.settings import Settings
from graph.stores.sqlite_lock import (
    MAX_WAIT_S,
    MIN_WAIT_S,
    NOTICE_AFTER_S,
    DatabaseLocked,
    is_locked,
    limit_wait_s,
    retry_while_locked,
)
from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.teams import make_team

PATH = Path("runs.sqlite")
REQUEST = "Compare the parts and say which one is best."


class Clock:
    """A clock that a test moves."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield


def make_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = code
    return error


def test_a_wait_is_announced_once_after_some_seconds_and_ends_in_a_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, announced = Clock(), list[int]()
    times_s = iter((NOTICE_AFTER_S - 1, NOTICE_AFTER_S, NOTICE_AFTER_S + 1, 10.0))

    def fail() -> None:
        announced.append(len(caplog.messages))
        clock.now_s = next(times_s)
        raise make_error(sqlite3.SQLITE_BUSY)

    with pytest.raises(DatabaseLocked) as ended:
        retry_while_locked(PATH, fail, 10.0, clock)

    assert announced == [0, 0, 1, 1]
    assert "waiting for the run database runs.sqlite" in caplog.messages[0]
    assert ended.value.exit_code == 5
    assert ended.value.format_line().startswith(
        "error[STORE_LOCKED] the run database runs.sqlite is locked by another program: it was "
        "waited for 10 s. kept: "
    )


@pytest.mark.parametrize(
    ("code", "locked"),
    [
        (sqlite3.SQLITE_BUSY, True),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, True),
        (sqlite3.SQLITE_LOCKED, True),
        (sqlite3.SQLITE_CORRUPT, False),
        (sqlite3.SQLITE_FULL, False),
    ],
)
def test_only_a_lock_is_waited_for(code: int, locked: bool) -> None:
    assert is_locked(make_error(code)) is locked
    assert not is_locked(sqlite3.OperationalError("database is locked"))


def test_an_operation_is_repeated_until_the_lock_is_gone() -> None:
    tries = iter([make_error(sqlite3.SQLITE_BUSY), make_error(sqlite3.SQLITE_LOCKED), None])

    def write() -> str:
        if error := next(tries):
            raise error
        return "saved"

    assert retry_while_locked(PATH, write) == "saved"


@pytest.mark.parametrize(
    ("left_s", "wait_s"),
    [(None, MAX_WAIT_S), (900.0, MAX_WAIT_S), (10.0, 10.0), (-5.0, MIN_WAIT_S)],
)
def test_a_run_waits_no_longer_than_its_deadline(left_s: float | None, wait_s: float) -> None:
    assert limit_wait_s(left_s) == wait_s


def test_doctor_names_a_locked_database(settings: Settings) -> None:
    async def create() -> None:
        async with open_database("one", settings):
            pass

    asyncio.run(create())
    path = settings.resolve_database_path()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
    with lock_file(path):
        [found] = check_database(settings)

    assert (found.level, found.text) == ("broken", f"another program has locked {path}")


@pytest.mark.slow
async def test_a_run_whose_database_is_locked_under_way_ends_at_its_deadline_and_resumes(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(
        Scenario(tasks=script_tasks({"a": (), "b": ("a",)}), latency_s={"Report": 1.0})
    )
    path = settings.resolve_database_path()

    async def run_locked() -> None:
        await endpoint.wait_for_calls(2)  # the plan is saved, and the first task at work
        with lock_file(path):
            await ended

    ended = asyncio.ensure_future(
        arun(REQUEST, team=make_team(), settings=settings, context={"deadline_s": 6.0})
    )
    await run_locked()
    outcome = ended.result()
    resumed = await aresume(outcome.thread, settings=settings, context={"deadline_s": 600.0})

    assert outcome.exit_code == 5
    assert outcome.error is not None and outcome.error.code == "STORE_LOCKED"
    assert "finished task" in outcome.error.kept
    assert f"supervise resume {outcome.thread}" in outcome.error.next
    assert resumed.status == "done"
