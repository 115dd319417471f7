"""Pictures: a plan as Mermaid, a large plan on a terminal, a team's graph."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph import build_supervisor
from graph.display.plan_mermaid import (
    COLOURS,
    INK,
    PlanMissing,
    PlanTooLarge,
    escape_label,
    group_tasks,
    list_arrows,
    read_planned_tasks,
    write_mermaid,
)
from graph.display.text import cut_middle
from graph.runs.trace import TraceUnreadable
from graph.settings import Settings
from tests.teams import make_team

Json = dict[str, Any]
TOKENS = (Path(__file__).parents[2] / "web/src/style/tokens.css").read_text()
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


def test_a_plan_in_mermaid_shows_states_dependencies_and_the_critical_path() -> None:
    picture = read_planned_tasks(make_trace({"a": (), "b": ("a",)}, b="failed"))

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
    picture = read_planned_tasks(make_trace(edges, part_7="failed"))

    groups = group_tasks(picture)

    assert [len(group) for group in groups] == [1, 40]
    assert len(list_arrows(groups)) == 1
    assert "40 tasks<br>part_0 … part_39<br>39 done, 1 failed" in write_mermaid(picture)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(p * w for p, w in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    "trace", [{}, {"run": 1}, {"run": {}, "tasks": [{"id": 1}]}, {"run": {}, "tasks": [None]}]
)
def test_a_foreign_trace_is_refused(trace: Json) -> None:
    with pytest.raises(TraceUnreadable):
        read_planned_tasks(trace)


def test_a_run_without_a_plan_has_no_picture() -> None:
    with pytest.raises(PlanMissing):
        read_planned_tasks({"run": {}, "tasks": []})


@pytest.mark.parametrize("name", COLOURS)
def test_text_and_outline_can_be_read_on_every_fill(name: str) -> None:
    fill, line = COLOURS[name]

    assert contrast(INK, fill) >= 4.5
    assert contrast(line, fill) >= 3


@pytest.mark.parametrize("name", sorted(COLOURS.keys() - {"asking"}))
def test_a_state_has_the_colours_of_the_pages(name: str) -> None:
    fill, line = COLOURS[name]

    assert f"--{name}: light-dark({line}, " in TOKENS
    assert f"--{name}-ground: light-dark({fill}, " in TOKENS


def test_a_plan_with_too_many_boxes_is_refused() -> None:
    edges = {f"t{n}": (f"t{n - 1}",) if n else () for n in range(251)}

    with pytest.raises(PlanTooLarge, match="251 boxes and 250 arrows"):
        write_mermaid(read_planned_tasks(make_trace(edges)))


MAX_LABEL_WORDS = 9
"""LangChain breaks a longer label in two, and the break is shown as text."""


def draw(*, xray: int = 1, **fields: Any) -> Any:
    return build_supervisor(make_team(**fields), settings=Settings()).get_graph(xray=xray)


def find_label(drawn: Any, source: str, target: str) -> str:
    (edge,) = [edge for edge in drawn.edges if (edge.source, edge.target) == (source, target)]
    return str(edge.data)


@pytest.mark.parametrize("critic", ["off", "on", "below"])
def test_every_choice_says_why_and_the_caps_are_named(critic):
    drawn = draw(critic=critic, recruit=True, ladder=("refine", "tier", "human"))

    conditional = [edge for edge in drawn.edges if edge.conditional]
    assert conditional and all(edge.data for edge in conditional)
    assert all(len(str(edge.data).split()) <= MAX_LABEL_WORDS for edge in conditional)
    assert "cap: 500 attempts" in find_label(drawn, "supervisor", "synthesizer")
    assert "cap: 4 attempts" in find_label(drawn, "writer:assess", "writer:__end__")


def test_what_a_team_cannot_reach_is_not_drawn():
    plain, asking = draw(ladder=("tier",)), draw(ladder=("refine", "human"), critic="on")

    absent = {"critic", "writer:refine", "writer:ask_human"}
    assert absent.isdisjoint(plain.nodes)
    assert not [name for name in plain.nodes if "specialist" in name or "recruit" in name]
    assert absent <= set(asking.nodes)
    ends = {name for edge in plain.edges for name in (edge.source, edge.target)}
    assert ends <= set(plain.nodes)


async def test_a_server_draws_the_same_also_from_a_copy():
    graph = build_supervisor(make_team(), settings=Settings())

    drawn = await graph.copy().aget_graph(xray=True)

    assert drawn.to_json() == graph.get_graph(xray=True).to_json()
    assert "critic" not in drawn.nodes


def test_a_flat_drawing_has_the_top_level_only():
    assert set(draw(xray=0).nodes) == {
        *("__start__", "supervisor", "approval", "monitor", "synthesizer", "__end__"),
        *("researcher", "analyst", "writer"),
    }


def test_a_cut_name_keeps_its_end() -> None:
    assert cut_middle("regulation_in_the_union_10", 12) == "regul…ion_10"
    assert cut_middle("short", 12) == "short"
