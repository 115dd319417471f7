"""A run's trace in Chrome's trace event format, checked against the format's rules."""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from graph.commands.runs import RunsHere, show_trace
from graph.runs.chrome_trace import Span, build_chrome_trace, place_spans, read_timeline
from graph.runs.trace import ThreadUnknown, TraceUnreadable, get_log_path
from graph.settings import Settings
from tests.snapshots import check_snapshot

Json = dict[str, Any]
NEEDED = {
    "X": ("name", "cat", "ts", "dur", "args"),
    "M": ("name", "args"),
    "s": ("name", "cat", "ts", "id"),
    "f": ("name", "cat", "ts", "id", "bp"),
}


def make_event(t: float, kind: str, task: str = "", worker: str = "", **more: Any) -> Json:
    return {"t": t, "kind": kind, "task": task, "worker": worker, **more}


def make_run() -> list[Json]:
    """Make the events of a run: a and b in parallel by one worker, then c, which needs both."""
    tasks = [
        {"id": name, "description": "Do it.", "worker": worker, "depends_on": needs}
        for name, worker, needs in (
            ("a", "researcher", []),
            ("b", "researcher", []),
            ("c", "writer", ["a", "b"]),
        )
    ]
    used: Json = {"model": "gpt-5", "input_tokens": 100, "output_tokens": 10}
    done: Json = {"report": {"status": "completed"}}
    return [
        {"run": {"thread": "T"}},
        make_event(0.0, "request", request="Compare."),
        make_event(0.5, "model_call", schema="Plan", seconds=0.4, **used),
        make_event(0.5, "plan_created", plan={"goal": "Compare.", "tasks": tasks}),
        make_event(0.6, "task_started", "a", "researcher", attempt=1, tier="standard", rung=""),
        make_event(0.6, "task_started", "b", "researcher", attempt=1, tier="standard", rung=""),
        make_event(0.9, "model_call", "a", "researcher", schema="Report", seconds=0.3, **used),
        make_event(1.2, "tool_call", "a", "researcher", tool="search", seconds=0.2),
        make_event(1.3, "tool_call", "a", "researcher", tool="search", seconds=0.2),
        make_event(1.5, "task_started", "a", "researcher", attempt=2, tier="strong", rung="tier"),
        make_event(1.8, "report", "b", "researcher", **done),
        make_event(2.0, "report", "a", "researcher", **done),
        make_event(2.1, "task_started", "c", "writer", attempt=1, tier="standard", rung=""),
        make_event(2.5, "report", "c", "writer", **done),
        make_event(3.0, "answer", status="done"),
    ]


def build(events: list[Json]) -> list[Json]:
    trace = build_chrome_trace(read_timeline(events), "supervise T")
    found: list[Json] = trace["traceEvents"]
    return found


def list_problems(events: list[Json]) -> list[str]:
    """Return what the format forbids: missing fields, times that are no microseconds, and spans
    of one row that overlap in part."""
    problems = []
    for event in events:
        missing = [name for name in (*NEEDED[event["ph"]], "pid", "tid") if name not in event]
        times = [event.get(name, 0) for name in ("ts", "dur")]
        wrong = [time for time in times if type(time) is not int or time < 0]
        problems += [f"{event['name']}: {what}" for what in (*missing, *wrong)]
    rows: defaultdict[int, list[Json]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[event["tid"]].append(event)
    for row in rows.values():
        problems += _list_overlaps(row)
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    return [*problems, *(f"row {tid} has no name" for tid in rows.keys() - named)]


def _list_overlaps(row: list[Json]) -> list[str]:
    open_ends: list[int] = []
    problems = []
    for span in sorted(row, key=lambda each: (each["ts"], -each["dur"])):
        while open_ends and open_ends[-1] <= span["ts"]:
            open_ends.pop()
        if open_ends and open_ends[-1] < span["ts"] + span["dur"]:
            problems.append(f"{span['name']} overlaps in part")
        open_ends.append(span["ts"] + span["dur"])
    return problems


def find_spans(events: list[Json], category: str) -> Mapping[str, Json]:
    return {each["name"]: each for each in events if each["ph"] == "X" and each["cat"] == category}


def write_rows(events: list[Json]) -> str:
    """Write each event on a line: its row, its kind, its name, when it begins and how long."""
    names = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
    return "\n".join(
        f"{names[each['tid']]}: {each['ph']} {each.get('cat', '')} {each['name']} "
        f"{each['ts']} {each.get('dur', '')} {each.get('id', '')}"
        for each in events
        if each["ph"] != "M"
    )


def test_overlapping_tasks_have_rows_calls_are_inside_and_arrows_lead_to_who_needs_them() -> None:
    events = build(make_run())

    assert list_problems(events) == []
    check_snapshot("chrome_trace.txt", write_rows(events))
    assert find_spans(events, "task")["a"]["args"]["status"] == "completed"
    assert find_spans(events, "attempt")["attempt 2, tier"]["args"]["tier"] == "strong"


def test_an_inner_team_has_rows_of_its_own() -> None:
    inner = {"within": "a"}
    events = build(
        [
            make_event(0.0, "request"),
            make_event(0.1, "task_started", "a", "library"),
            make_event(0.2, "model_call", "a", schema="Plan", seconds=0.1, **inner),
            make_event(0.3, "task_started", "a/part", "reader", **inner),
            make_event(0.5, "report", "a/part", "reader", report={}, **inner),
            make_event(0.6, "report", "a", "library", report={}),
            make_event(0.7, "answer"),
        ]
    )

    names = [each["args"]["name"] for each in events if each["name"] == "thread_name"]
    assert names == ["supervisor", "library", "a/supervisor", "a/reader"]
    assert list_problems(events) == []


def test_a_run_that_goes_on_is_cut_at_its_last_event() -> None:
    timeline = read_timeline(make_run()[:9])

    assert not timeline.has_ended
    tasks = find_spans(build(make_run()[:9]), "task")
    assert {task["args"]["status"] for task in tasks.values()} == {"not ended"}
    assert tasks["a"]["ts"] + tasks["a"]["dur"] == 1_300_000


@pytest.mark.parametrize(
    "foreign",
    [
        {"kind": "task_started", "t": "soon"},
        {"kind": "report", "t": float("nan")},
        {"kind": 7, "t": 1},
        {"kind": "model_call", "t": 1, "seconds": -1},
        {"kind": "tool_call", "t": 1e30},
        {"kind": "request"},
    ],
)
def test_entries_of_other_programs_are_counted_and_left_out(foreign: Json) -> None:
    timeline = read_timeline([*make_run(), foreign])

    assert timeline.unreadable == 1 and timeline.has_ended


@pytest.mark.parametrize(
    "odd",
    [
        make_event(0.7, "plan_revised", plan={"tasks": "none"}),
        make_event(0.7, "report", "a", report="text"),
        make_event(0.7, "report", "never_started", report={}),
        make_event(0.7, "model_call", input_tokens="many", schema=None),
        make_event(0.7, "task_started", "\x1b[31m" + "x" * 5000, "w\u202e"),
    ],
)
def test_odd_values_break_no_rule_of_the_format(odd: Json) -> None:
    events = build([*make_run(), odd])

    assert list_problems(events) == []
    assert "\\u001b" not in json.dumps(events) and len(json.dumps(events)) < 20_000


def test_a_file_without_events_of_a_run_is_refused_in_one_line(settings: Settings) -> None:
    path = get_log_path("T", settings)
    path.parent.mkdir(parents=True)
    path.write_text('{"hello": "world"}\n[1, 2]\nnot JSON\n')

    with pytest.raises(TraceUnreadable) as refused:
        show_trace("T", RunsHere(settings), out=None, format="chrome")
    assert "\n" not in refused.value.format_line()

    with pytest.raises(ThreadUnknown):
        show_trace("other", RunsHere(settings), out=None, format="chrome")


def test_the_command_writes_a_file_and_says_that_a_run_goes_on(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = get_log_path("T", settings)
    path.parent.mkdir(parents=True)
    lines = [json.dumps(event) for event in make_run()[:9]]
    path.write_text("\n".join([*lines, '{"t": 1.4, "kind": "repo']))

    show_trace("T", RunsHere(settings), out=tmp_path / "t.json", format="chrome")

    assert "the run has not ended" in capsys.readouterr().err
    written = json.loads((tmp_path / "t.json").read_text())
    assert list_problems(written["traceEvents"]) == []


def test_spans_of_another_task_are_never_inside_a_task() -> None:
    spans = [
        Span(name=n, category=c, group="w", owner=o, start_s=s, end_s=e)
        for n, o, s, e, c in (
            ("a", "a", 0.0, 9.0, "task"),
            ("b", "b", 1.0, 2.0, "task"),
            ("call of b", "b", 1.2, 1.5, "tool_call"),
            ("call of c", "c", 3.0, 4.0, "tool_call"),
        )
    ]

    rows = {placed.name: placed.row for placed in place_spans(spans)}

    assert rows == {"a": 0, "b": 1, "call of b": 1, "call of c": 1}
