"""The child process that reads texts: hostile input can keep a Markdown parser busy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from extensions.tools.reading.prose_sentences import MAX_TEXT_CHARS, split_sentences
from extensions.tools.reading.reading_grade import ReadingGrade, grade_sentences
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .remarks import ProseRemark, find_remarks

REPORT_SIZES = (40, 20, 10, 4)
"""Remarks that are reported, fewer where they are too long together."""
MIN_WORDS = 100
"""Below this number of words a grade is not reliable."""
MAX_PARAGRAPH_LINES = 60
"""Limit of a paragraph."""
MAX_OPENING_CHARS = 20
REMARK_CONFIDENCE = 85
JUDGEMENT_GAP = (
    "Rules have read the text unchanged; tone, truth and whether it serves its readers are for "
    "a language model or a human to judge, and so is any new wording."
)
COLUMNS = ("text", "words", "sentences", "words a sentence", "Flesch-Kincaid grade", "remarks")

_CODE = Pattern(r"`[^`\n]{1,200}`")
_COMMENT = Pattern(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True)
class _CheckedText:
    name: str
    word_count: int
    """Words of the whole text, headings included."""
    is_cut: bool
    grade: ReadingGrade
    remarks: list[ProseRemark]


def check_texts(texts: dict[str, str], max_words: int | None) -> dict[str, Any]:
    """Return a report on texts, each of which may have a number of words."""
    checked = [_check_text(name, text) for name, text in texts.items()]
    return fit_to_size(lambda most: _compose_report(checked, max_words, most), REPORT_SIZES)


def _check_text(name: str, text: str) -> _CheckedText:
    sentences, lines = list(split_sentences(_CODE.sub("code", text))), text.split("\n")
    return _CheckedText(
        name=name,
        word_count=sum(any(map(str.isalnum, word)) for word in _COMMENT.sub("", text).split()),
        is_cut=len(text) > MAX_TEXT_CHARS,
        grade=grade_sentences(sentences),
        remarks=[
            replace(remark, line=_find_line(remark, lines)) for remark in find_remarks(sentences)
        ],
    )


def _find_line(remark: ProseRemark, lines: Sequence[str]) -> int:
    """Return the line of the words, at or below the first line of their paragraph."""
    opening = remark.words[:MAX_OPENING_CHARS]
    below = range(remark.line, min(remark.line + MAX_PARAGRAPH_LINES, len(lines) + 1))
    return next((number for number in below if opening in lines[number - 1]), remark.line)


def _compose_report(
    checked: Sequence[_CheckedText], max_words: int | None, most: int
) -> ToolReport:
    report = ToolReport(gaps=[JUDGEMENT_GAP])
    report.add_table(COLUMNS, [_build_row(text) for text in checked])
    for text in checked:
        sentences = format_count(text.grade.sentences, "sentence")
        remarks = format_count(len(text.remarks), "remark")
        report.add_claim(
            f"{text.name} has {text.word_count} words, {sentences} and {remarks}.", text.name
        )
        if max_words is not None and text.word_count > max_words:
            over = text.word_count - max_words
            message = f"{text.word_count} words, {over} over the {max_words} that are allowed"
            report.add_finding("medium", message, text.name)
        elif max_words is not None:
            within = f"{text.name} keeps within the {max_words} words that are allowed."
            report.add_claim(within, text.name)
        if text.is_cut:
            cut = f"only the first {MAX_TEXT_CHARS} characters of {text.name} were read"
            report.failures.append(cut)
    every = [(text.name, remark) for text in checked for remark in text.remarks]
    for name, remark in every[:most]:
        suggestion = f"perhaps {remark.replacement}" if remark.replacement else ""
        report.add_finding("low", f"{remark.kind}: “{remark.words}”", name, suggestion, remark.line)
        report.findings[-1]["confidence"] = REMARK_CONFIDENCE
    if len(every) > most:
        report.gaps.append(f"{len(every) - most} more remarks are left out.")
    return report


def _build_row(text: _CheckedText) -> list[object]:
    grade = text.grade
    level = f"{grade.flesch_kincaid:.1f}" if grade.words >= MIN_WORDS else "too short to say"
    average = f"{grade.words_per_sentence:.1f}"
    return [text.name, text.word_count, grade.sentences, average, level, len(text.remarks)]
