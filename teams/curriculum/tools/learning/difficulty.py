"""Report the reading grade of materials against a target."""

import re
from collections.abc import Mapping, Set
from typing import Any

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS
from nodes.tools.framework.tool_report import ToolReport, fit_to_size
from nodes.tools.reading.prose_sentences import (
    MAX_TEXT_CHARS,
    Sentence,
    find_title,
    split_sentences,
)
from nodes.tools.reading.reading_grade import FORMULAS, ReadingGrade, grade_sentences

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

_TARGET_GRADE = Pattern(
    r"\bgrade(?:s|\s+level)?\s+(\d{1,2})\b|\b(\d{1,2})(?:st|nd|rd|th)[\s-]+grade", re.IGNORECASE
)


def find_target_grade(request: str, target_grade: float = 0) -> float | None:
    """Return the target grade, from the argument, else from the words of a request."""
    if 0 < target_grade <= 20:
        return target_grade
    found = _TARGET_GRADE.search(request)
    return float(found[1] or found[2]) if found else None


def measure_difficulty(materials: Mapping[str, str], target: float | None) -> dict[str, Any]:
    """Report the grade of each material, and the hardest sentences of those above the target.

    Raises:
        ToolRefused: there is no prose to measure, or there are too many texts.
    """
    read = {name: list(split_sentences(text)) for name, text in materials.items()}
    held = {name: found for name, found in read.items() if found}
    if len(held) > MAX_TEXTS:
        raise ToolRefused(f"{len(held)} texts, of at most {MAX_TEXTS}; name one of them")
    if not held:
        raise ToolRefused(
            "no prose was found to measure; give a text of whole sentences, such as a reading in "
            "Markdown, not a table"
        )
    grades = {name: grade_sentences(found) for name, found in held.items()}
    titles = {name: find_title(name, materials[name]) for name in held}
    cut = {name for name in held if len(materials[name]) > MAX_TEXT_CHARS}
    return fit_to_size(
        lambda most: _build_report(held, titles, cut, grades, target, most), SHOWN_COUNTS
    )


def _build_report(
    texts: Mapping[str, list[Sentence]],
    titles: Mapping[str, str],
    cut: Set[str],
    grades: Mapping[str, ReadingGrade],
    target: float | None,
    most: int,
) -> ToolReport:
    goal = f"grade {target:g}" if target is not None else "not named"
    reply = ToolReport(
        lines=[f"US school grades by {FORMULAS}; the middle one counts. Target: {goal}."]
    )
    reply.lines += ["", "| text | words | words a sentence | Flesch-Kincaid | ARI | Coleman-Liau |"]
    reply.lines[-1] += " grade | fits |"
    reply.lines.append("|---" * 8 + "|")
    for name, found in texts.items():
        is_english = _is_english(found)
        verdict = _judge_grade(grades[name], target) if is_english else "not English"
        reply.lines.append(_format_row(name, grades[name], verdict))
        if not is_english:
            reply.gaps.append(f"{name} does not look English, which the formulas are made for.")
            continue
        reply.add_claim(_describe_grade(titles[name], grades[name], verdict), name)
        if name in cut:
            reply.failures.append(f"only the first {MAX_TEXT_CHARS} characters of {name} were read")
        if grades[name].words < MIN_WORDS:
            reply.gaps.append(f"{name} has {grades[name].words} words; a grade needs {MIN_WORDS}.")
        if verdict == "too hard":
            _add_hardest_sentences(reply, name, found, most)
        elif verdict == "easier":
            reply.add_finding("info", f"{name} is easier than {goal} asks for", name)
    if target is None:
        reply.gaps.append("No target grade is named, so whether the texts fit is not said.")
    reply.gaps.append(
        "The formulas count words, letters and syllables; whether the matter is too hard is for a "
        "teacher to judge."
    )
    return reply


def _add_hardest_sentences(reply: ToolReport, name: str, found: list[Sentence], most: int) -> None:
    """Add the sentences that raise the grade most."""
    ranked = sorted(found, key=lambda sentence: -grade_sentences([sentence]).flesch_kincaid)
    for sentence in ranked[:most]:
        counts = grade_sentences([sentence])
        text = (
            sentence.text
            if len(sentence.text) <= MAX_SHOWN_CHARS
            else (f"{sentence.text[: MAX_SHOWN_CHARS - 1]}…")
        )
        reply.add_finding(
            "low",
            f"hard to read, {counts.words} words and {counts.syllables} syllables: {text}",
            name,
            "Split it, or use shorter words.",
            sentence.line,
        )


def _judge_grade(counts: ReadingGrade, target: float | None) -> str:
    if target is None:
        return ""
    distance = counts.median_grade - target
    if abs(distance) <= TOLERANCE:
        return "fits"
    return "too hard" if distance > 0 else "easier"


def _format_row(name: str, counts: ReadingGrade, verdict: str) -> str:
    numbers = (
        counts.words_per_sentence,
        counts.flesch_kincaid,
        counts.automated_readability,
        counts.coleman_liau,
        counts.median_grade,
    )
    cells = [name.replace("|", "/"), str(counts.words), *(f"{number:.1f}" for number in numbers)]
    return f"| {' | '.join([*cells, verdict])} |"


def _describe_grade(title: str, counts: ReadingGrade, verdict: str) -> str:
    length = f"{counts.words_per_sentence:.1f} words a sentence"
    told = f"{title} reads at grade {counts.median_grade:.1f} ({length})"
    return f"{told}: {verdict}" if verdict else told


def _is_english(found: list[Sentence]) -> bool:
    words = [word.lower() for sentence in found for word in sentence.words]
    return sum(word in FUNCTION_WORDS for word in words) >= MIN_ENGLISH * len(words)
