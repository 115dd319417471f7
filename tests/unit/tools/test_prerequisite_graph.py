"""Topics in order: from each form of material, with levels, weeks, and circles refused."""

import csv
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.errors import ToolRefused
from teams.curriculum.tools.learning.course_plan import plan_course
from teams.curriculum.tools.learning.topics import Topic, order_topics
from tests.unit.tools.course_samples import EXAMPLES

pytestmark = pytest.mark.slow

TABLE = "topic,prerequisites,hours\nDecimals,Fractions,2\nFractions,Division,3\nDivision,,2\n"


def read_rows(told: dict[str, Any]) -> list[list[str]]:
    lines = [line for line in told["summary"].splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def list_names(told: dict[str, Any]) -> list[str]:
    return [row[1] for row in read_rows(told)]


def test_the_example_is_ordered_so_that_nothing_comes_before_what_it_needs():
    text = (EXAMPLES / "topics.csv").read_text()

    told = plan_course({"topics.csv": text}, hours_per_week=3)

    listed = {row["topic"]: row for row in csv.DictReader(text.splitlines())}
    order = list_names(told)
    assert sorted(order) == sorted(listed)
    begun = 0.0
    for place, row in enumerate(read_rows(told), start=1):
        needs = [need for need in listed[row[1]]["prerequisites"].split("; ") if need in listed]
        levels = [int(other[2]) for other in read_rows(told) if other[1] in needs]
        assert all(order.index(need) < place - 1 for need in needs)
        assert int(row[0]) == place and int(row[2]) == max(levels, default=0) + 1
        ended = begun + float(listed[row[1]]["hours"])
        weeks = {int(begun // 3) + 1, int(-(-ended // 3))}
        assert row[5] == " to ".join(str(week) for week in sorted(weeks))
        begun = ended
    assert "23.5 hours, 8 weeks (3 hours a week)" in told["summary"]
    assert begun == 23.5
    assert {claim["source"] for claim in told["claims"]} == {"topics.csv"}
    (finding,) = told["findings"]
    assert finding["message"].startswith("Carbon cycle needs Chemical symbols")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", TABLE),
        ("t.tsv", TABLE.replace(",", "\t")),
        ("t.md", "| Topic | Prerequisites | Hours |\n|---|---|---|\n| Decimals | Fractions | 2 |\n"
         "| Fractions | Division | 3 |\n| Division | - | 2 |\n"),
        ("t.md", "# Course\n\nFor all | of us.\n\n| **Topic** | After |\n|---|---|\n"
         "| Decimals | Fractions |\n| Fractions | Division |\n| Division | - |\n\n| a | b |\n"),
        ("t.csv", "Topic;Requires\nDecimals;Fractions\nFractions;Division\nDivision;\n"),
        ("t.txt", "Division -> Fractions -> Decimals"),
        ("t.txt", "1. Division → Fractions\n2. Fractions => Decimals\n"),
    ],
)  # fmt: skip
def test_topics_are_read_from_every_form(name, text):
    told = plan_course({name: text, "notes.md": "# Notes\n\n- Bring a ruler.\n"})

    assert list_names(told) == ["Division", "Fractions", "Decimals"]
    assert [row[2] for row in read_rows(told)] == ["1", "2", "3"]
    assert {claim["source"] for claim in told["claims"]} == {name}


def test_chains_need_no_material():
    told = plan_course(
        {}, chains=["Division -> Fractions -> Decimals", "Division -> Ratios"], weeks=6
    )

    assert list_names(told) == ["Division", "Fractions", "Decimals", "Ratios"]
    assert [row[5] for row in read_rows(told)] == ["1 to 2", "2 to 3", "4 to 5", "5 to 6"]
    assert "since not all have hours" in told["summary"]


@pytest.mark.parametrize(
    ("text", "circle"),
    [
        ("A -> B -> C -> A", "A → B → C → A"),
        ("A -> A", "A → A"),
        ((EXAMPLES / "hard_cases" / "circle.csv").read_text(), "Food webs → Photosynthesis"),
    ],
)
def test_a_circle_is_refused_and_named(text, circle):
    name = "t.csv" if "," in text else "t.md"

    with pytest.raises(ToolRefused, match=f"go in a circle: .*{circle}"):
        plan_course({name: text})


def test_more_hours_than_there_is_room_for_are_a_finding():
    told = plan_course({"t.csv": TABLE}, weeks=2, hours_per_week=3)

    (finding,) = told["findings"]
    assert finding["message"] == "7 hours of topics do not fit into 2 weeks of 3 hours: 1 too many"


def test_weeks_alone_determine_the_hours_a_week():
    told = plan_course({"t.csv": TABLE}, weeks=2)

    assert "2 weeks (3.5 hours a week fill the weeks given)" in told["summary"]


def test_without_hours_or_weeks_no_week_is_made_up():
    told = plan_course({"t.md": "Division -> Fractions"})

    assert {row[5] for row in read_rows(told)} == {""}
    assert any(gap.startswith("Weeks are not planned") for gap in told["gaps"])
    assert "No hours are given for: Division, Fractions." in told["gaps"]


def test_what_is_needed_and_not_listed_is_named_with_what_may_be_meant():
    told = plan_course({"t.csv": "topic,after\nFractions,Divison\nDivision,\n"})

    (finding,) = told["findings"]
    assert "Fractions needs Divison" in finding["message"]
    assert finding["suggestion"] == "Is Division meant?"


def test_a_topic_listed_twice_is_joined():
    told = plan_course({"t.csv": TABLE + "fractions,Decimals and more,1\n"})

    assert list_names(told).count("Fractions") == 1
    assert "Listed more than once, and joined: Fractions." in told["gaps"]


@pytest.mark.parametrize(
    ("materials", "reason"),
    [
        ({}, "no topics with prerequisites"),
        ({"t.csv": "a,b\n1,2\n"}, "no topics with prerequisites"),
        ({"t.md": "Nothing but prose about a course."}, "no topics with prerequisites"),
        ({"t.csv": "topic,needs\nA,B,C\n"}, "t.csv line 2 has 3 cells.*no topics with prereq"),
    ],
)
def test_without_topics_the_expected_form_is_explained(materials, reason):
    with pytest.raises(ToolRefused, match=reason):
        plan_course(materials)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('topic,needs\n"A,', "cannot be read"),
        ("x" * 300_000, "300000 characters, of at most 200000"),
        ("topic,needs\n" + "\n".join(f"T{n},T{n - 1}" for n in range(400)), "of at most 300"),
    ],
)
def test_a_material_that_is_named_and_cannot_be_used_is_refused_with_the_reason(text, reason):
    with pytest.raises(ToolRefused, match=reason):
        plan_course({"t.csv": text}, material="t.csv")


def test_many_topics_are_cut_to_size():
    chain = "\n".join(f"Topic {n} {'x' * 80} -> Topic {n + 1} {'x' * 80}" for n in range(290))

    told = plan_course({"t.md": chain})

    assert len(json.dumps(told)) < 22_000
    assert any("of 291 topics are not shown" in gap for gap in told["gaps"])


@given(
    st.dictionaries(st.sampled_from("ABCDEFG"), st.sets(st.sampled_from("ABCDEFGX"), max_size=4))
)
def test_every_order_keeps_every_prerequisite_or_names_a_real_circle(needs):
    topics = [Topic(name, tuple(sorted(before))) for name, before in needs.items()]
    if not topics:
        return

    try:
        order = [topic.name for topic in order_topics(topics).topics]
    except ToolRefused as refusal:
        circle = str(refusal).partition("circle: ")[2].partition(",")[0].split(" → ")
        assert all(one in needs[other] for one, other in pairwise(circle))
        return

    assert sorted(order) == sorted(needs)
    for name, before in needs.items():
        assert all(order.index(each) < order.index(name) for each in before if each in needs)
