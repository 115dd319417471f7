"""A trace that cannot be written refuses a run at its start, and ends no run later (O02)."""

from pathlib import Path
from typing import Any

import pytest

from graph import aresume, arun
from graph.runs.event_log import EventLog
from graph.runs.trace import ThreadUnknown, get_log_path, load_trace
from graph.settings import Settings
from nodes.errors import StoreError
from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."
FULL = Path("/dev/full")
needs_a_full_disk = pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")


async def test_o02_a_run_whose_trace_cannot_be_opened_does_not_begin(
    endpoint: Endpoint, settings: Settings
) -> None:
    traces = get_log_path("one", settings).parent
    traces.touch()

    with pytest.raises(StoreError, match="cannot be written") as caught:
        await arun(REQUEST, team=make_team(), settings=settings, thread="one")

    assert caught.value.exit_code == 5 and str(traces) in caught.value.format_line()
    assert not endpoint.requests
    with pytest.raises(ThreadUnknown):
        load_trace("one", settings)


@needs_a_full_disk
def test_o02_a_run_is_not_accepted_whose_request_is_not_on_file() -> None:
    with EventLog(FULL) as journal, pytest.raises(StoreError, match="No space left"):
        journal.write_required({"run": {"thread": "one"}})


@needs_a_full_disk
def test_o02_a_trace_that_finds_no_room_ends_with_one_warning_and_the_run_continues() -> None:
    heard: list[Any] = []

    with EventLog(FULL, heard.append) as journal:
        for moment in (1.0, 2.0):
            journal.record_event({"t": moment, "kind": "dispatched"})

    assert [event["kind"] for event in heard] == ["error", "dispatched", "dispatched"]
    assert "the run continues" in heard[0]["message"]


async def test_a_run_whose_trace_is_lost_is_unknown_and_says_so(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": ()})))
    await arun(REQUEST, team=make_team(), settings=settings, thread="one")
    get_log_path("one", settings).unlink()

    with pytest.raises(ThreadUnknown, match="no thread 'one'"):
        await aresume("one", settings=settings)
