"""Reading grades: by the published formulas, from counts that a person can check."""

import re
from typing import Any

import pytest

from extensions.tools.reading.prose_sentences import (
    ReadingGrade,
    count_syllables,
    grade_sentences,
    split_sentences,
)
from nodes.errors import ToolRefused
from teams.curriculum.tools.learning.difficulty import measure_difficulty
from tests.unit.tools.course_samples import EXAMPLES

pytestmark = pytest.mark.slow

LEAF = (EXAMPLES / "reading_leaf.md").read_text()
HARD = (EXAMPLES / "reading_photosynthesis.md").read_text()


def find_cells(told: dict[str, Any], name: str) -> list[str]:
    (line,) = (line for line in told["summary"].splitlines() if line.startswith(f"| {name}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_formulas_give_what_counting_by_hand_gives():
    found = grade_sentences(
        list(split_sentences("The happy cat sat on the big red mat. It saw a bird fly away."))
    )

    assert (found.words, found.sentences, found.syllables, found.letters) == (15, 2, 17, 45)
    assert found.flesch_kincaid == pytest.approx(0.39 * 15 / 2 + 11.8 * 17 / 15 - 15.59)
    assert found.automated_readability == pytest.approx(4.71 * 45 / 15 + 0.5 * 15 / 2 - 21.43)
    assert found.coleman_liau == pytest.approx(
        0.0588 * (45 / 15 * 100) - 0.296 * (2 / 15 * 100) - 15.8
    )


def test_the_middle_grade_counts():
    found = ReadingGrade(words=100, sentences=5, syllables=150, letters=450)

    assert (
        sorted((found.flesch_kincaid, found.automated_readability, found.coleman_liau))[1]
        == found.median_grade
    )


def test_the_example_texts_are_counted_as_they_stand():
    told = measure_difficulty({"leaf.md": LEAF, "hard.md": HARD}, target_grade=7)

    for name, text in (("leaf.md", LEAF), ("hard.md", HARD)):
        body = " ".join(line for line in text.splitlines() if not line.startswith("#"))
        words = re.findall(r"[A-Za-z]+(?:-[A-Za-z]+)*", body)
        ends = len(re.findall(r"[.!?](?:\s|$)", body))
        letters = sum(map(str.isalpha, "".join(words)))
        shown = find_cells(told, name)
        assert shown[1] == str(len(words))
        assert shown[4] == f"{4.71 * letters / len(words) + 0.5 * len(words) / ends - 21.43:.1f}"
    assert find_cells(told, "leaf.md")[-1] == "fits"
    assert find_cells(told, "hard.md")[-1] == "too hard"
    assert [claim["source"] for claim in told["claims"]] == ["leaf.md", "hard.md"]


def test_the_hardest_sentences_are_named_at_their_line():
    told = measure_difficulty({"hard.md": HARD}, target_grade=7)

    assert len(told["findings"]) == 3
    for finding in told["findings"]:
        begin = finding["message"].partition(": ")[2][:30]
        paragraph = " ".join(HARD.splitlines()[finding["line"] - 1 :]).split("  ")[0]
        assert begin in paragraph


def test_without_a_target_no_text_is_said_to_fit():
    told = measure_difficulty({"leaf.md": LEAF})

    assert "Target: not named." in told["summary"]
    assert told["gaps"][0] == "No target grade is named, so whether the texts fit is not said."


def test_a_text_far_below_its_target_is_reported_too():
    told = measure_difficulty({"leaf.md": LEAF}, target_grade=12)

    assert find_cells(told, "leaf.md")[-1] == "easier"
    assert told["findings"][0]["severity"] == "info"


def test_headings_tables_code_and_labels_are_no_sentences():
    text = (
        "# A heading of six words here\n\n"
        "One two three four five. Dr. Smith saw e.g. a cat on it.\n\n"
        "| a | b |\n|---|---|\n| one two three four five six | x |\n\n"
        "    code is not read at all here\n\n"
        "- A listed sentence of seven words here.\n- label\n"
    )

    found = list(split_sentences(text))

    assert [sentence.text for sentence in found] == [
        "One two three four five.",
        "Dr. Smith saw e.g. a cat on it.",
        "A listed sentence of seven words here.",
    ]
    assert [sentence.line for sentence in found] == [3, 3, 11]


def test_a_sentence_may_begin_with_a_name_in_small_letters():
    found = split_sentences("You may not want to search all files. curl, e.g. here, can be used.")

    assert [sentence.text for sentence in found] == [
        "You may not want to search all files.",
        "curl, e.g. here, can be used.",
    ]


@pytest.mark.parametrize(
    ("word", "count"), [("cat", 1), ("photosynthesis", 5), ("x", 1), ("oxygen", 3)]
)
def test_every_word_has_a_syllable(word, count):
    assert count_syllables(word) == count


def test_only_prose_is_measured_unless_a_material_is_named():
    objectives = (EXAMPLES / "objectives.md").read_text()
    held = {"topics.csv": "topic,after\nA,B\n", "objectives.md": objectives, "leaf.md": LEAF}

    told = measure_difficulty(held)
    named = measure_difficulty(held, material="objectives.md")

    assert [claim["source"] for claim in told["claims"]] == ["leaf.md"]
    assert [claim["source"] for claim in named["claims"]] == ["objectives.md"]


def test_short_and_foreign_texts_are_named_as_such():
    german = "Das Blatt ist flach und sehr dünn gebaut. " * 5
    short = "The leaf is flat and thin. It takes in light from the sun. Water comes from the root."

    told = measure_difficulty({"de.md": german, "short.md": short})

    assert find_cells(told, "de.md")[-1] == "not English"
    assert "de.md does not look English, which the formulas are made for." in told["gaps"]
    assert "short.md has 18 words; a grade needs 100." in told["gaps"]


@pytest.mark.parametrize("materials", [{}, {"t.csv": "a,b\n1,2\n"}, {"t.md": "# Only a heading\n"}])
def test_without_prose_it_is_refused(materials):
    with pytest.raises(ToolRefused, match="no prose was found"):
        measure_difficulty(materials)


def test_a_huge_text_is_measured_and_the_answer_stays_small():
    huge = "Photosynthesis is the process by which plants take in light. " * 20_000

    told = measure_difficulty({"huge.md": huge}, target_grade=3)

    assert len(str(told)) < 20_000
    assert find_cells(told, "huge.md")[-1] == "too hard"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 300_000,
        "[a](" * 50_000,
        "**a *b " * 30_000,
        "".join("`" * n + " " for n in range(600)),
    ],
    ids=["brackets", "links", "emphasis", "ticks"],
)
def test_text_that_is_made_to_keep_a_parser_busy_does_not(text):
    held = {"made.md": text, "leaf.md": LEAF}

    assert find_cells(measure_difficulty(held), "leaf.md")[1] == "211"


def test_a_sentence_without_words_is_none():
    text = "The leaf is flat and thin. 42! It takes in light from the sun. The end comes now."

    told = measure_difficulty({"a.md": text}, target_grade=1)

    assert find_cells(told, "a.md")[1] == "17"


def test_only_the_beginning_of_a_huge_text_is_read():
    told = measure_difficulty({"huge.md": LEAF * 300})

    assert told["failures"] == ["only the first 200000 characters of huge.md were read"]
