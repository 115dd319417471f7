"""Reading grades: by the published formulas, from counts that a person can check."""

import re
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from nodes.errors import ToolRefused
from nodes.tools.reading.prose_sentences import split_sentences
from nodes.tools.reading.reading_grade import ReadingGrade, count_syllables, grade_sentences
from teams.curriculum.tools.readability import readability
from tests.unit.tools.course_samples import EXAMPLES, run_course_work

pytestmark = pytest.mark.slow

LEAF = (EXAMPLES / "reading_leaf.md").read_text()
HARD = (EXAMPLES / "reading_photosynthesis.md").read_text()


def measure_texts(request: str = "Is the reading right?", **more: Any) -> dict[str, Any]:
    return run_course_work("measure", request, **{"materials": {}, "target_grade": 0, **more})


def find_cells(result: dict[str, Any], name: str) -> list[str]:
    (line,) = (line for line in result["summary"].splitlines() if line.startswith(f"| {name}"))
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
    result = measure_texts("Is it right for grade 7?", materials={"leaf.md": LEAF, "hard.md": HARD})

    for name, text in (("leaf.md", LEAF), ("hard.md", HARD)):
        body = " ".join(line for line in text.splitlines() if not line.startswith("#"))
        words = re.findall(r"[A-Za-z]+(?:-[A-Za-z]+)*", body)
        ends = len(re.findall(r"[.!?](?:\s|$)", body))
        letters = sum(map(str.isalpha, "".join(words)))
        shown = find_cells(result, name)
        assert shown[1] == str(len(words))
        assert shown[4] == f"{4.71 * letters / len(words) + 0.5 * len(words) / ends - 21.43:.1f}"
    assert find_cells(result, "leaf.md")[-1] == "fits"
    assert find_cells(result, "hard.md")[-1] == "too hard"
    assert [claim["source"] for claim in result["claims"]] == ["leaf.md", "hard.md"]


def test_the_hardest_sentences_are_named_at_their_line():
    result = measure_texts(target_grade=7, materials={"hard.md": HARD})

    assert len(result["findings"]) == 3
    for finding in result["findings"]:
        begin = finding["message"].partition(": ")[2][:30]
        paragraph = " ".join(HARD.splitlines()[finding["line"] - 1 :]).split("  ")[0]
        assert begin in paragraph


@pytest.mark.parametrize(
    ("request_text", "target"),
    [
        ("Is it right for grade 7?", "grade 7"),
        ("Is this a 5th grade reading?", "grade 5"),
        ("for grade level 10", "grade 10"),
        ("Is the reading hard?", "not named"),
    ],
)
def test_the_target_is_taken_from_the_requests_words(request_text, target):
    result = measure_texts(request_text, materials={"leaf.md": LEAF})

    assert f"Target: {target}." in result["summary"]
    assert ("No target grade is named" in result["gaps"][0]) == (target == "not named")


def test_a_text_far_below_its_target_is_reported_too():
    result = measure_texts(target_grade=12, materials={"leaf.md": LEAF})

    assert find_cells(result, "leaf.md")[-1] == "easier"
    assert result["findings"][0]["severity"] == "info"


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


@pytest.mark.parametrize(
    ("word", "count"), [("cat", 1), ("photosynthesis", 5), ("x", 1), ("oxygen", 3)]
)
def test_every_word_has_a_syllable(word, count):
    assert count_syllables(word) == count


def test_only_prose_is_measured_unless_a_material_is_named():
    objectives = (EXAMPLES / "objectives.md").read_text()
    held = {"topics.csv": "topic,after\nA,B\n", "objectives.md": objectives, "leaf.md": LEAF}

    result = measure_texts(materials=held)
    named = measure_texts(material="objectives.md", materials=held)

    assert [claim["source"] for claim in result["claims"]] == ["leaf.md"]
    assert [claim["source"] for claim in named["claims"]] == ["objectives.md"]


def test_short_and_foreign_texts_are_named_as_such():
    german = "Das Blatt ist flach und sehr dünn gebaut. " * 5
    short = "The leaf is flat and thin. It takes in light from the sun. Water comes from the root."

    result = measure_texts(materials={"de.md": german, "short.md": short})

    assert find_cells(result, "de.md")[-1] == "not English"
    assert "de.md does not look English, which the formulas are made for." in result["gaps"]
    assert "short.md has 18 words; a grade needs 100." in result["gaps"]


@pytest.mark.parametrize("materials", [{}, {"t.csv": "a,b\n1,2\n"}, {"t.md": "# Only a heading\n"}])
def test_without_prose_it_is_refused(materials):
    with pytest.raises(ToolRefused, match="no prose was found"):
        measure_texts(materials=materials)


def test_a_huge_text_is_measured_and_the_answer_stays_small():
    huge = "Photosynthesis is the process by which plants take in light. " * 20_000

    result = measure_texts(target_grade=3, materials={"huge.md": huge})

    assert len(str(result)) < 20_000
    assert find_cells(result, "huge.md")[-1] == "too hard"


async def test_the_tool_measures_in_a_process_of_its_own_and_blocks_no_event_loop():
    with blockbuster_ctx():
        result = await readability.ainvoke({"request": "grade 7?", "materials": {"leaf.md": LEAF}})
        with pytest.raises(ToolRefused, match="no prose was found"):
            await readability.ainvoke({"request": "Measure the reading"})

    assert find_cells(result, "leaf.md")[-1] == "fits"


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

    assert find_cells(measure_texts(materials=held), "leaf.md")[1] == "211"


def test_a_sentence_without_words_is_none():
    text = "The leaf is flat and thin. 42! It takes in light from the sun. The end comes now."

    result = measure_texts(target_grade=1, materials={"a.md": text})

    assert find_cells(result, "a.md")[1] == "17"


def test_only_the_beginning_of_a_huge_text_is_read():
    result = measure_texts(materials={"huge.md": LEAF * 300})

    assert result["failures"] == ["only the first 200000 characters of huge.md were read"]
