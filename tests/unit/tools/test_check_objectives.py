"""Learning objectives: found where they stand, judged by their first verb."""

from typing import Any

import pytest

from nodes.errors import ToolRefused
from teams.curriculum.tools.learning.objectives import (
    LEVELS,
    assess_verb,
    find_level,
    suggest_better_verbs,
)
from teams.curriculum.tools.learning.objectives import check_objectives as run_check
from tests.unit.tools.course_samples import EXAMPLES

pytestmark = pytest.mark.slow


def read_table(told: dict[str, Any]) -> dict[str, str]:
    lines = [line.strip("| ").split(" | ") for line in told["summary"].splitlines()]
    rows = [cells for cells in lines if len(cells) == 3]
    return {cells[0]: cells[-1] for cells in rows if cells[0] not in ("objective", "---")}


def test_the_objectives_of_the_example_are_judged_each_at_its_line():
    text = (EXAMPLES / "objectives.md").read_text()

    told = run_check({"objectives.md": text, "reading_leaf.md": "# A\n\nA leaf.\n"})

    lines = text.splitlines()
    stated = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    assert list(read_table(told)) == stated and len(stated) == 12
    assert [claim["quotation"] for claim in told["claims"]] == stated
    found = {finding["line"]: finding for finding in told["findings"]}
    vague = {
        n
        for n, line in enumerate(lines, 1)
        if line[2:12].startswith(("Unders", "Know", "App", "Be"))
    }
    assert {line for line, finding in found.items() if finding["severity"] == "medium"} == vague
    assert all(finding["message"].endswith(lines[line - 1][2:]) for line, finding in found.items())
    assert "8 begin with a measurable verb" in told["summary"]
    assert "Anderson and Krathwohl" in told["summary"]
    assert "No objective asks to: analyze." in told["summary"]


@pytest.mark.parametrize(
    ("objective", "verb", "level"),
    [
        ("Calculate the area of a circle.", "calculate", "apply"),
        ("Students will be able to list three causes.", "list", "remember"),
        ("By the end of week 2, learners can explain osmosis.", "explain", "understand"),
        ("You will be able to critique a design", "critique", "evaluate"),
        ("To design a bridge", "design", "create"),
        ("**Analyse** a poem", "analyse", "analyze"),
        ("Categorise the finds", "categorise", "analyze"),
        ("Correctly label the bones", "label", "remember"),
        ("Summarizes a text", "summarizes", "understand"),
        ("Apply the rule", "apply", "apply"),
    ],
)
def test_a_measurable_verb_has_its_level(objective, verb, level):
    found = assess_verb(objective)

    assert (found.verb, found.verdict, found.level) == (verb, "measurable", level)


@pytest.mark.parametrize(
    ("objective", "verb", "better"),
    [
        ("Understand fractions", "understand", "explain"),
        ("Students will know the capitals.", "know", "list"),
        ("Be aware of risks", "be aware", "explain"),
        ("Gain insight into markets", "gain insight", "explain"),
        ("Appreciate art", "appreciate", "justify"),
        ("Learners should become familiar with maps", "become familiar", "explain"),
        ("Explore the coast", "explore", "examine"),
    ],
)
def test_a_vague_verb_has_better_ones(objective, verb, better):
    found = assess_verb(objective)

    assert (found.verb, found.verdict) == (verb, "vague")
    assert better in found.better_verbs


@pytest.mark.parametrize("objective", ["The water cycle", "Fractions", "42", "???"])
def test_what_begins_with_no_verb_is_unknown(objective):
    assert assess_verb(objective).verdict == "unknown"


def test_no_verb_is_both_measurable_and_vague_and_better_ones_are_measurable():
    for word in ("understand", "know", "appreciate", "explore", "master", "be", "familiar"):
        assert not find_level(word)
        verbs = suggest_better_verbs(word).replace(" or ", ", ").split(", ")
        assert verbs and all(find_level(verb) in LEVELS for verb in verbs)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("o.csv", "topic,objective\nA,List cells\nB,Know cells\n"),
        ("o.tsv", "topic\tobjective\nA\tList cells\nB\tKnow cells\n"),
        (
            "o.md",
            "# A\nLearning outcomes:\n1. List cells\n2. Know cells\n\n# Notes\n- Bring a pen\n",
        ),
        (
            "o.txt",
            "Students will be able to list cells.\nLearners should know cells.\nBring a pen.\n",
        ),
    ],
)
def test_objectives_are_found_in_every_form(name, text):
    told = run_check({name: text})

    assert list(read_table(told).values()) == ["remember", "vague"]
    assert {claim["source"] for claim in told["claims"]} == {name}


def test_objectives_that_are_given_come_before_those_of_materials():
    told = run_check({"o.csv": "objective\nKnow cells\n"}, objectives=["- List cells"])

    assert read_table(told) == {"List cells": "remember"}
    assert told["claims"][0]["source"] == ""


@pytest.mark.parametrize("text", ["", "# Objectives\n\nNone yet.\n", "x" * 300_000])
def test_without_objectives_the_expected_form_is_explained(text):
    with pytest.raises(ToolRefused, match="no learning objectives were found"):
        run_check({"o.md": text})
