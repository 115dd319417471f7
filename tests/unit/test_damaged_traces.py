"""Logs that are cut, damaged, or another program's: a picture, or one line; no other end."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from graph.commands.runs import RunsHere, show_run, show_runs, show_trace
from graph.commands.teams import draw_run
from graph.runs.event_log import EventLog, read_last_time
from graph.runs.session import state_from_log
from graph.runs.trace import get_log_path, usage_from_log
from graph.settings import Settings
from graph.stores.trace_lines import format_trace_line
from nodes.errors import SupervisorError
from tests.unit.test_report_page import PLAN, REPORT, make_event

VALUES: tuple[Any, ...] = (None, -1, 1e400, "x", [], {}, [None], {"a": 1}, 10**400, "\ud800")
TIMING = {"wall_s": 1.0, "sequential_s": 1.0, "critical_path_s": 1.0, "speedup": 1.0}
USAGE = {"model_calls": 1, "input_tokens": 5, "output_tokens": 5, "cost_usd": 0.1}
ENTRIES: list[dict[str, Any]] = [
    {"run": {"thread": "T", "team": "buyers", "started": "2026-01-01T00:00:00+00:00"}},
    make_event("request", 0.0, request="Compare", models={}, materials=[]),
    make_event("plan_created", 0.1, plan=PLAN),
    make_event("task_started", 0.2, "one", attempt=1),
    make_event("report", 0.5, "one", report={**REPORT, "started_s": 0.2, "ended_s": 0.5}),
    make_event(
        "answer",
        0.6,
        answer={"text": "One.", "confidence": 90},
        usage=USAGE,
        timing=TIMING,
        status="done",
    ),
]


def write_log(settings: Settings, data: bytes, thread: str = "T") -> Path:
    path = get_log_path(thread, settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def list_readers(settings: Settings, out: Path) -> Iterator[Callable[[], int]]:
    runs = RunsHere(settings)
    yield partial(show_run, "T", runs)
    for form in ("json", "html", "chrome"):
        yield partial(show_trace, "T", runs, out=out, format=form)
    yield partial(draw_run, "T", runs, out=out)


def try_readers(settings: Settings, data: bytes) -> None:
    """Let every command read a log: each succeeds, or raises an error of one line."""
    out = write_log(settings, data).parents[1] / "out"
    for read in list_readers(settings, out):
        try:
            read()
        except SupervisorError as error:
            assert len(error.format_line()) < 1000
            assert "\n" not in error.format_line()
    show_runs(RunsHere(settings))


def write_entries(entries: list[Any]) -> bytes:
    return "".join(f"{json.dumps(entry)}\n" for entry in entries).encode()


def list_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield from list_places(value[key], (*place, key))


def damage_entries(seed: int, count: int = 60) -> Iterator[bytes]:
    """Yield logs in which one value is another."""
    chance, places = random.Random(seed), list(list_places(ENTRIES))
    for *way, last in chance.sample(places, count):
        entries = copy.deepcopy(ENTRIES)
        holder: Any = entries
        for key in way:
            holder = holder[key]
        holder[last] = chance.choice(VALUES)
        yield write_entries(entries)


def test_a_log_that_is_cut_anywhere_is_shown_or_refused_in_one_line(settings: Settings):
    data = write_entries(ENTRIES)
    for cut in random.Random(1).sample(range(len(data)), 30):
        try_readers(settings, data[:cut])
        try_readers(settings, data[cut:])


def test_a_log_with_other_values_is_shown_or_refused_in_one_line(settings: Settings):
    for data in damage_entries(seed=2):
        try_readers(settings, data)


@pytest.mark.parametrize(
    "line",
    [b"[" * 100_000, b'{"kind":"request","t":' + b"9" * 5_000 + b"}", bytes(range(256)), b"null"],
    ids=["deep", "huge number", "bytes", "no object"],
)
def test_a_line_that_is_no_event_is_left_out(settings: Settings, line: bytes, capsys: Any):
    write_log(settings, line + b"\n" + write_entries(ENTRIES))

    assert show_run("T", RunsHere(settings)) == 0

    assert "One." in capsys.readouterr().out


def test_a_run_that_is_resumed_over_a_damaged_log_takes_from_it_what_it_can(settings: Settings):
    for data in damage_entries(seed=3):
        path = write_log(settings, data)

        assert state_from_log(EventLog(path)).keys() <= {"results", "plan"}
        assert all(usage.model_calls for usage in usage_from_log(path).values())
        assert 0.0 <= read_last_time(path) <= 0.6


def test_one_damaged_log_hides_no_other_run(settings: Settings, capsys: Any):
    write_log(settings, write_entries([{"kind": "plan_created", "plan": None}]), "damaged")
    write_log(settings, write_entries(ENTRIES))

    assert show_runs(RunsHere(settings)) == 0

    said = capsys.readouterr().out
    assert "unreadable" in said
    assert "T " in said and "buyers" in said


def test_numbers_that_json_lacks_are_null_in_every_form_of_a_trace(
    settings: Settings, tmp_path: Path
):
    result = {"a": float("nan"), "b": [float("-inf"), 1.5]}
    event = make_event("tool_call", 0.3, "one", tool="divide", result=result)
    line = format_trace_line(event)
    written = json.dumps(event).replace("NaN", "1e999")
    write_log(settings, write_entries(ENTRIES) + f"{line}\n{written}\n".encode())

    for form in ("json", "html"):
        show_trace("T", RunsHere(settings), out=tmp_path / form, format=form)

    page = (tmp_path / "html").read_text()
    held = page.partition('id="trace">')[2].partition("</script>")[0]
    for text in (line, held, (tmp_path / "json").read_text()):
        assert "null" in text
        json.loads(text, parse_constant=pytest.fail)
