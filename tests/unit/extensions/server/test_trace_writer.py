"""The trace that a server keeps beside a thread's checkpoints."""

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from extensions.server.trace_writer import MAX_TEXT_CHARS, TraceWriter, load_trace_lines
from graph.runs.chrome_trace import read_timeline
from graph.runs.trace import build_trace
from nodes.errors.redaction import register_secrets


class FailingSaver(InMemorySaver):
    """Takes no write, as a database that is away."""

    async def aput_writes(self, *_: Any, **__: Any) -> None:
        raise ConnectionError("away")


def begin(saver: InMemorySaver, run: str = "r1", **more: Any) -> TraceWriter:
    settings = {"started_t": 0.0, "is_resumed": False, "team": "market", "began": "2026-01-01"}
    return TraceWriter(saver, thread="t", run=run, **{**settings, **more})


def event(t: float, **more: Any) -> dict[str, Any]:
    return {"t": t, "kind": "report", "task": "A", "worker": "w", **more}


async def write(writer: TraceWriter, *entries: dict[str, Any]) -> None:
    for entry in entries:
        writer.add(entry)
    await writer.close()


async def read(saver: InMemorySaver) -> list[dict[str, Any]]:
    return [json.loads(line) for line in await load_trace_lines(saver, "t")]


async def test_entries_are_read_in_the_order_in_which_they_came():
    saver = InMemorySaver()

    await write(begin(saver), *[event(float(n)) for n in range(50)])

    first, *others = await read(saver)
    assert first == {"run": {"thread": "t", "team": "market", "started": "2026-01-01"}}
    assert [entry["t"] for entry in others] == [float(n) for n in range(50)]


async def test_the_same_run_on_another_instance_is_a_takeover_with_its_gap():
    saver = InMemorySaver()
    await write(begin(saver), event(2.0))

    await write(begin(saver, started_t=9.0), event(9.5))

    notes = [entry for entry in await read(saver) if "kind" not in entry]
    gap = next(entry for entry in await read(saver) if entry.get("kind") == "taken_over")
    assert [list(note) for note in notes] == [["run"], ["resumed"]]
    assert (gap["t"], gap["gap_s"]) == (9.0, 7.0)


async def test_a_new_run_on_the_thread_continues_the_clock_of_the_trace():
    saver = InMemorySaver()
    await write(begin(saver, "r1"), event(5.0))
    await write(begin(saver, "r2"), event(1.0))
    await write(begin(saver, "r3", started_t=0.5, is_resumed=True), event(1.5))

    times = [entry["t"] for entry in await read(saver) if "t" in entry]

    assert times == [5.0, 6.0, 7.0]


async def test_the_times_of_a_follow_ups_reports_are_on_that_clock_too():
    saver = InMemorySaver()
    await write(begin(saver, "r1"), event(5.0))
    await write(begin(saver, "r2"), event(1.0, report={"started_s": 0.5, "ended_s": 1.0}))

    *_, last = await read(saver)

    assert last["report"] == {"started_s": 5.5, "ended_s": 6.0}


async def test_two_instances_that_write_at_once_lose_nothing():
    saver = InMemorySaver()
    paused, other = begin(saver), begin(saver)

    paused.add(event(1.0, task="paused"))
    other.add(event(2.0, task="other"))
    await paused.close()
    await other.close()

    tasks = [entry["task"] for entry in await read(saver) if entry.get("kind") == "report"]
    assert sorted(tasks) == ["other", "paused"]


async def test_long_texts_are_cut_and_secrets_are_not_kept():
    saver = InMemorySaver()
    register_secrets(["sk-very-secret-0123456789"])
    texts = {str(n): "x" * MAX_TEXT_CHARS for n in range(30)}

    await write(
        begin(saver),
        event(1.0, text="y" * 50_000, key="sk-very-secret-0123456789", odd="\x00\ud800"),
        event(2.0, **texts),
    )

    _, short, named = await read(saver)
    assert short["text"].endswith("… and 30,000 characters more")
    assert "sk-very" not in json.dumps(short)
    assert named == {"t": 2.0, "kind": "report", "task": "A", "worker": "w"}


async def test_a_database_that_is_away_fails_no_run():
    saver = FailingSaver()

    await write(begin(saver), event(1.0))

    assert await read(saver) == []


@pytest.mark.slow
async def test_events_beyond_a_limit_are_counted():
    saver = InMemorySaver()

    await write(begin(saver), *[event(float(n), text="a" * 20_000) for n in range(250)])

    *_, last = await read(saver)
    kept = [entry for entry in await read(saver) if entry.get("kind") == "report"]
    assert last["code"] == "TRACE_CUT"
    assert last["message"] == f"{250 - len(kept)} events of the trace could not be kept"
    assert len(kept) > 100


# The page's own test, web/test/build-trace.test.ts, reads the same file.
CASES = json.loads((Path(__file__).parents[4] / "web/test/kept-traces.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_page_and_the_command_line_agree_on_a_trace(case: dict[str, Any]):
    assert build_trace(case["entries"]) == case["trace"]


def test_the_time_without_an_instance_is_a_span():
    request = {"t": 0.0, "kind": "request", "task": "", "worker": ""}
    taken = {"t": 9.5, "kind": "taken_over", "task": "", "worker": "", "gap_s": 7.0}

    found = read_timeline([request, taken])

    gaps = [(span.name, span.start_s, span.end_s) for span in found.spans]
    assert gaps == [("no instance at work", 2.5, 9.5)]
