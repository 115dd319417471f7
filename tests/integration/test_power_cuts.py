"""What is on disk at any moment is whole, and tells the right time (K07, T03)."""

import shutil
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graph import aresume
from graph.runs.trace import list_runs
from tests.endpoint import script_tasks
from tests.runs import Runs

pytestmark = pytest.mark.slow


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
