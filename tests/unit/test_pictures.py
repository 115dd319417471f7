"""Pictures: a team's graph, and names that are cut."""

from pathlib import Path
from typing import Any

import pytest

from graph import build_supervisor
from graph.display.text import cut_middle
from graph.settings import Settings
from tests.teams import make_team

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


@pytest.mark.parametrize("name, begins", [("a.mmd", "---\nconfig"), ("a.md", "```mermaid\n---")])
def test_a_file_of_markdown_holds_the_drawing_between_fences(supervise, name, begins) -> None:
    assert supervise("draw", "market_analysis", "--out", name) == 0

    assert Path(name).read_text().startswith(begins)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("nothing",), "unknown team 'nothing'"),
        (("market_analysis", "--out", "missing/a.mmd"), "cannot write missing/a.mmd"),
        (
            ("market_analysis", "--out", "x.png"),
            "a drawing is Mermaid, which .png does not hold. next: --out FILE.mmd",
        ),
    ],
)
def test_what_cannot_be_drawn_is_one_line_and_nothing_is_written(supervise, arguments, line):
    assert supervise("draw", *arguments) == 2

    assert line in supervise.err and supervise.err.count("\n") == 1
    assert not list(Path().glob("x.*"))


def test_a_cut_name_keeps_its_end() -> None:
    assert cut_middle("regulation_in_the_union_10", 12) == "regul…ion_10"
    assert cut_middle("short", 12) == "short"
