"""Report the reading grade of materials against a target."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from extensions.tools.reading.prose_sentences import (
    FORMULAS,
    MAX_TEXT_CHARS,
    ReadingGrade,
    Sentence,
    find_title,
    grade_sentences,
    is_prose,
    split_sentences,
)
from nodes.errors import ToolRefused
from nodes.text.plain_text import sanitize_line
from nodes.text.word_lists import FUNCTION_WORDS
from nodes.tools.framework.materials import resolve_material_name
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .course_tool import MaterialName

MIN_WORDS = 100
"""Below this number of words a grade is not reliable."""
MIN_ENGLISH = 0.2
"""Share of words that are English function words; in English prose it is near a half."""
TOLERANCE = 1.0
"""Grades a text may be above its target: the formulas are not more precise."""
MAX_TEXTS = 30
MAX_SHOWN_CHARS = 240
SHOWN_COUNTS = (3, 2, 1, 0)
"""Sentences shown of a text that is too hard, fewer where they are too long together."""
COLUMNS = (
    *("text", "words", "words a sentence", "Flesch-Kincaid", "ARI", "Coleman-Liau", "grade"),
    "fits",
)


@dataclass(frozen=True)
class _MeasuredText:
    name: str
    title: str
    sentences: list[Sentence]
    grade: ReadingGrade
    verdict: str
    is_cut: bool


def measure_difficulty(
    materials: Mapping[str, str],
    material: MaterialName = "",
    target_grade: Annotated[
        float | None,
        Field(
            description="US school grade that the texts are for", gt=0, le=20, allow_inf_nan=False
        ),
    ] = None,
) -> dict[str, Any]:
    """Measure how hard English texts are to read, as US school grades, against a target grade.

    Names the hardest sentences of a text that is too hard.
    Example: readability(material="leaf.md", target_grade=7)

    Raises:
        ToolRefused: there is no prose to measure, or there are too many texts.
    """
    named = [resolve_material_name(material, materials)] if material else []
    names = named or [name for name, text in materials.items() if is_prose(name, text)]
    read = {name: list(split_sentences(materials[name])) for name in names}
    held = {name: found for name, found in read.items() if found}
    if len(held) > MAX_TEXTS:
        raise ToolRefused(f"{len(held)} texts, of at most {MAX_TEXTS}; name one of them")
    if not held:
        raise ToolRefused(
            "no prose was found to measure; give a text of whole sentences, such as a reading in "
            "Markdown, not a table"
        )
    texts = [
        _MeasuredText(
            name,
            find_title(name, materials[name]),
            found,
            grade := grade_sentences(found),
            _judge_grade(grade, target_grade) if _is_english(found) else "not English",
            is_cut=len(materials[name]) > MAX_TEXT_CHARS,
        )
        for name, found in held.items()
    ]
    return fit_to_size(lambda most: _build_report(texts, target_grade, most), SHOWN_COUNTS)


def _judge_grade(grade: ReadingGrade, target: float | None) -> str:
    distance = 0.0 if target is None else grade.median_grade - target
    if target is not None and abs(distance) <= TOLERANCE:
        return "fits"
    return "" if target is None else "too hard" if distance > 0 else "easier"


def _build_report(texts: list[_MeasuredText], target: float | None, most: int) -> ToolReport:
    goal = f"grade {target:g}" if target is not None else "not named"
    headline = f"US school grades by {FORMULAS}; the middle one counts. Target: {goal}."
    reply = ToolReport(lines=[headline, ""])
    reply.add_table(COLUMNS, [_build_row(text) for text in texts])
    for text in texts:
        _add_text(reply, text, goal, most)
    if target is None:
        reply.gaps.append("No target grade is named, so whether the texts fit is not said.")
    reply.gaps.append(
        "The formulas count words, letters and syllables; whether the matter is too hard is for a "
        "teacher to judge."
    )
    return reply


def _add_text(reply: ToolReport, text: _MeasuredText, goal: str, most: int) -> None:
    """Add a text's grade as a claim, and its hardest sentences as findings if it is too hard."""
    name, grade = text.name, text.grade
    if text.verdict == "not English":
        reply.gaps.append(f"{name} does not look English, which the formulas are made for.")
        return
    length = f"{grade.words_per_sentence:.1f} words a sentence"
    told = f"{text.title} reads at grade {grade.median_grade:.1f} ({length})"
    reply.add_claim(f"{told}: {text.verdict}" if text.verdict else told, name)
    if text.is_cut:
        reply.failures.append(f"only the first {MAX_TEXT_CHARS} characters of {name} were read")
    if grade.words < MIN_WORDS:
        reply.gaps.append(f"{name} has {grade.words} words; a grade needs {MIN_WORDS}.")
    if text.verdict == "easier":
        reply.add_finding("info", f"{name} is easier than {goal} asks for", name)
    if text.verdict != "too hard":
        return
    counted = [(grade_sentences([sentence]), sentence) for sentence in text.sentences]
    counted.sort(key=lambda pair: -pair[0].flesch_kincaid)
    for counts, sentence in counted[:most]:
        reply.add_finding(
            "low",
            f"hard to read, {counts.words} words and {counts.syllables} syllables: "
            f"{sanitize_line(sentence.text, MAX_SHOWN_CHARS)}",
            name,
            "Split it, or use shorter words.",
            sentence.line,
        )


def _build_row(text: _MeasuredText) -> list[object]:
    grade = text.grade
    grades = (grade.flesch_kincaid, grade.automated_readability, grade.coleman_liau)
    numbers = (grade.words_per_sentence, *grades, grade.median_grade)
    return [text.name, grade.words, *(f"{number:.1f}" for number in numbers), text.verdict]


def _is_english(sentences: list[Sentence]) -> bool:
    words = [word.lower() for sentence in sentences for word in sentence.words]
    return sum(word in FUNCTION_WORDS for word in words) >= MIN_ENGLISH * len(words)
