"""Pictures of a run: what they show, and that no text of a run becomes part of their code."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.pictures.plan_layout import PlanTooLarge, refuse_too_large
from graph.pictures.plan_mermaid import escape_label, write_mermaid
from graph.pictures.plan_picture import PlanMissing, PlannedTask, PlanPicture, read_plan_picture
from graph.pictures.plan_svg import draw_plan
from graph.pictures.state_look import LOOKS, find_look
from graph.pictures.task_groups import group_tasks, list_group_edges
from graph.pictures.timeline_picture import read_timeline_picture
from graph.pictures.timeline_svg import choose_tick_s, draw_timeline
from graph.runs.timeline import TraceUnreadable

Json = dict[str, Any]
TOKENS = (Path(__file__).parents[2] / "web/src/style/tokens.css").read_text()
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '"]; click n0 "javascript:x"\n<script>alert(1)</script> \u202e\x1b[31m\x00 ]]> & `'


def make_trace(edges: Mapping[str, Sequence[str]], **states: str) -> Json:
    """Make the trace of a run in which each task takes a second; a second attempt half of it."""
    events: list[Json] = [{"t": 5.0, "kind": "request"}]
    tasks = [
        {
            "id": name,
            "worker": "analyst",
            "description": f"Do {name}.",
            "depends_on": [{"task": need, "required": True} for need in needs],
        }
        for name, needs in edges.items()
    ]
    events.append({"t": 5.5, "kind": "plan_created", "plan": {"goal": "g", "tasks": tasks}})
    events.append({"t": 5.5, "kind": "dispatched", "tasks": list(edges)})
    for index, name in enumerate(edges):
        about: Json = {"task": name, "worker": "analyst"}
        if states.get(name) == "skipped":
            events.append({"t": 6.0, "kind": "task_skipped", **about, "reason": "no input"})
            continue
        events.append({"t": 6.0 + index, "kind": "task_started", **about, "attempt": 1})
        events.append({"t": 6.5 + index, "kind": "task_started", **about, "attempt": 2})
        report = {"status": states.get(name, "completed")}
        events.append({"t": 7.0 + index, "kind": "report", **about, "report": report})
    events.append({"t": 8.0 + len(edges), "kind": "answer", "status": "done"})
    shown = [
        {
            **task,
            "status": (state := states.get(str(task["id"]), "completed")),
            "report": None
            if state == "skipped"
            else {"worker": "analyst", "attempts": 2, "started_s": 1.0, "ended_s": 2.0},
        }
        for task in tasks
    ]
    return {
        "run": {"request": "Compare.", "status": "done", "team": "fruit"},
        "tasks": shown,
        "events": sorted(events, key=lambda event: event["t"]),
        "timing": {"wall_s": 4.0, "critical_path": ["supervisor", *edges, "synthesizer"]},
    }


def list_texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_plan_in_mermaid_shows_states_dependencies_and_the_critical_path() -> None:
    picture = read_plan_picture(make_trace({"a": (), "b": ("a",)}, b="failed"))

    lines = write_mermaid(picture).splitlines()

    assert lines[0] == "flowchart LR"
    assert '  n0["a<br>done · 1.00 s · 2 attempts · analyst"]' in lines
    assert "  n0 ==> n1" in lines
    assert "  class n0 done" in lines and "  class n1 failed" in lines


@given(st.text())
def test_a_label_of_mermaid_holds_no_mark_that_could_end_it(text: str) -> None:
    label = escape_label(text + HOSTILE)

    assert not set(label) & set('"<>[](){}`&\n\\|')


def test_many_tasks_with_the_same_arrows_are_one_box() -> None:
    edges = {"first": (), **{f"part_{n}": ("first",) for n in range(40)}}
    picture = read_plan_picture(make_trace(edges, part_7="failed"))

    groups = group_tasks(picture.tasks)

    assert [len(group.tasks) for group in groups] == [1, 40]
    assert len(list_group_edges(groups)) == 1
    assert "40 tasks<br>part_0 … part_39<br>39 done, 1 failed" in write_mermaid(picture)


def test_a_need_that_the_plan_lacks_has_no_arrow() -> None:
    picture = read_plan_picture(make_trace({"a": ("removed",)}))

    assert list_group_edges(group_tasks(picture.tasks)) == []


def test_a_timeline_shows_waiting_work_retries_and_what_was_skipped() -> None:
    trace = make_trace({"a": (), "b": ("a",)}, b="skipped")

    timeline = read_timeline_picture(trace, read_plan_picture(trace))

    rows = {row.label: row for row in timeline.rows}
    assert list(rows) == ["plan", "a", "b", "answer"]
    assert rows["a"].waits == [(0.5, 1.0)]
    assert [(bar.start_s, bar.end_s, bar.is_retried) for bar in rows["a"].bars] == [
        (1.0, 1.5, True),
        (1.5, 2.0, False),
    ]
    assert [bar.state for bar in rows["b"].bars] == ["skipped"]


def test_the_tasks_of_a_large_run_share_the_rows_of_their_worker() -> None:
    trace = make_trace({f"part_{n}": () for n in range(200)})

    timeline = read_timeline_picture(trace, read_plan_picture(trace))

    # One task follows another, so that one row holds them all.
    assert [row.label for row in timeline.rows] == ["plan", "analyst", "answer"]
    assert len(timeline.rows[1].bars) == 200


def test_a_timeline_is_of_the_last_request_only() -> None:
    trace = make_trace({"a": ()})
    trace["events"] = [{"t": 0.0, "kind": "request"}, {"t": 1.0, "kind": "answer"}] + trace[
        "events"
    ]

    timeline = read_timeline_picture(trace, read_plan_picture(trace))

    assert timeline.seconds == 4.0


def test_no_text_of_a_run_becomes_part_of_a_picture() -> None:
    trace = make_trace({HOSTILE: (), "b": (HOSTILE,)})
    trace["run"]["request"] = HOSTILE

    svg = draw_timeline(read_timeline_picture(trace, read_plan_picture(trace)))

    tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
    assert tags == {"svg", "title", "desc", "style", "rect", "text", "path", "g"}
    assert not {"\x1b", "\x00", "\u202e"} & set(svg)
    assert any("<script>" in text for text in list_texts(svg))


def test_a_picture_has_a_title_and_a_description_for_screen_readers() -> None:
    trace = make_trace({"a": ()})

    root = ElementTree.fromstring(
        draw_timeline(read_timeline_picture(trace, read_plan_picture(trace)))
    )

    assert root.get("role") == "img" and root.get("aria-labelledby") == "title desc"
    assert [root[0].text, root[1].text] == [
        "Timeline: Compare.",
        "fruit · done · 1 of 1 task done · 4.00 s",
    ]


@pytest.mark.parametrize("seconds", [0.0, 0.003, 0.9, 12.0, 3600.0, 1e8])
def test_an_axis_has_about_eight_marks(seconds: float) -> None:
    assert seconds / choose_tick_s(seconds) <= 8.1


def test_every_state_has_a_mark_of_its_own() -> None:
    assert len({look.mark for look in LOOKS.values()}) == len(LOOKS)
    assert find_look("cut off").name == "failed"
    assert find_look("of another release").name == "waiting"


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(p * w for p, w in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", LOOKS)
def test_text_and_marks_can_be_read_on_every_fill(name: str) -> None:
    look = LOOKS[name]

    assert contrast("#1b2027", look.light.fill) >= 4.5
    assert contrast("#e8ebf0", look.dark.fill) >= 4.5
    assert contrast(look.light.line, look.light.fill) >= 3
    assert contrast(look.dark.line, look.dark.fill) >= 3


@pytest.mark.parametrize("name", sorted(LOOKS.keys() - {"asking"}))
def test_a_state_has_the_colours_of_the_pages(name: str) -> None:
    look = LOOKS[name]

    assert f"--{name}: light-dark({look.light.line}, {look.dark.line});" in TOKENS
    assert f"--{name}-ground: light-dark({look.light.fill}, {look.dark.fill});" in TOKENS


@pytest.mark.parametrize(
    "trace", [{}, {"run": 1}, {"run": {}, "tasks": [{"id": 1}]}, {"run": {}, "tasks": [None]}]
)
def test_a_foreign_trace_is_refused(trace: Json) -> None:
    with pytest.raises(TraceUnreadable):
        read_plan_picture(trace)


def test_a_run_without_a_plan_has_no_picture() -> None:
    with pytest.raises(PlanMissing):
        read_plan_picture({"run": {}, "tasks": []})


def test_a_plan_with_too_many_arrows_is_refused() -> None:
    with pytest.raises(PlanTooLarge, match="100 boxes and 501 arrows"):
        refuse_too_large(100, 501)


def test_a_plan_as_svg_is_the_same_each_time_and_holds_every_task() -> None:
    pytest.importorskip("graphlay")
    edges = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c"), HOSTILE: ()}
    picture = read_plan_picture(make_trace(edges, c="failed"))

    svg = draw_plan(picture)

    assert svg == draw_plan(picture)
    assert {"a", "b", "c", "d", "Compare."} <= set(list_texts(svg))
    assert not {"\x1b", "\x00", "\u202e"} & set(svg)


def test_no_box_of_a_plan_covers_another() -> None:
    pytest.importorskip("graphlay")
    tasks = [
        PlannedTask(f"t{n}", "w", "", "done", "done", {f"t{n // 2}": True} if n else {}, False)
        for n in range(60)
    ]

    root = ElementTree.fromstring(draw_plan(PlanPicture("p", "s", tasks)))

    boxes = [
        [float(box.get(side, "nan")) for side in ("x", "y", "width", "height")]
        for box in root.iter(f"{SVG}rect")
        if box.get("class") == "box"
    ]
    assert len(boxes) == 60
    for index, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, *_ in boxes[:index]:
            assert abs(x - other_x) >= width or abs(y - other_y) >= height


def test_a_long_chain_with_arrows_over_all_of_it_is_refused_soon() -> None:
    pytest.importorskip("graphlay")
    edges = {"t0": (), **{f"t{n}": (f"t{n - 1}", "t0") for n in range(1, 200)}}

    with pytest.raises(PlanTooLarge):
        draw_plan(read_plan_picture(make_trace(edges)))
