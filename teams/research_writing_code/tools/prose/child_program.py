"""The child process that reads texts: hostile input can keep a Markdown parser busy."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size
from nodes.tools.reading.prose_sentences import MAX_TEXT_CHARS, Sentence, split_sentences
from nodes.tools.reading.reading_grade import ReadingGrade, grade_sentences

from .remarks import ProseRemark, find_remarks

REPORT_SIZES = (40, 20, 10, 4)
"""Remarks that are reported, fewer where they are too long together."""
MIN_WORDS = 100
"""Below this number of words a grade is not reliable."""
MAX_PARAGRAPH_LINES = 60
"""Limit of a paragraph."""
MAX_OPENING_CHARS = 20
JUDGEMENT_GAP = (
    "Rules have read the text unchanged; tone, truth and whether it serves its readers are for "
    "a language model or a human to judge, and so is any new wording."
)
TABLE_HEADER = "| text | words | sentences | words a sentence | Flesch-Kincaid grade | remarks |"

_CODE = Pattern(r"`[^`\n]{1,200}`")
_COMMENT = Pattern(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def check_texts(texts: dict[str, str], max_words: int | None) -> dict[str, Any]:
    """Return a report on texts, each of which may have a number of words."""
    read = {name: list(split_sentences(_CODE.sub("code", text))) for name, text in texts.items()}
    found = {name: _locate_remarks(find_remarks(each), texts[name]) for name, each in read.items()}
    cut = [name for name, text in texts.items() if len(text) > MAX_TEXT_CHARS]
    lengths = {name: _count_words(text) for name, text in texts.items()}
    return fit_to_size(
        lambda most: _compose_report(read, lengths, found, max_words, cut, most), REPORT_SIZES
    )


def _count_words(text: str) -> int:
    """Count the words of a whole text by its spaces, headings included."""
    return sum(any(map(str.isalnum, word)) for word in _COMMENT.sub("", text).split())


def _locate_remarks(remarks: Sequence[ProseRemark], text: str) -> list[ProseRemark]:
    """Return the lines of the words, at or below the first line of their paragraphs."""
    lines = text.split("\n")
    return [replace(remark, line=_find_line(remark, lines)) for remark in remarks]


def _find_line(remark: ProseRemark, lines: Sequence[str]) -> int:
    opening = remark.words[:MAX_OPENING_CHARS]
    below = range(remark.line, min(remark.line + MAX_PARAGRAPH_LINES, len(lines) + 1))
    return next((number for number in below if opening in lines[number - 1]), remark.line)


def _compose_report(
    read: Mapping[str, Sequence[Sentence]],
    lengths: Mapping[str, int],
    found: Mapping[str, Sequence[ProseRemark]],
    max_words: int | None,
    cut: Sequence[str],
    most: int,
) -> ToolReport:
    reply = ToolReport(lines=[TABLE_HEADER, "|---" * 6 + "|"], gaps=[JUDGEMENT_GAP])
    for name, each in read.items():
        _report_text(reply, name, lengths[name], grade_sentences(each), found[name])
        _report_word_limit(reply, name, lengths[name], max_words)
    every = [(name, remark) for name, remarks in found.items() for remark in remarks]
    for name, remark in every[:most]:
        message = f"{remark.kind}: “{remark.words}”"
        suggestion = f"perhaps {remark.replacement}" if remark.replacement else ""
        reply.add_finding("low", message, name, suggestion, remark.line)
        reply.findings[-1]["confidence"] = 85
    if len(every) > most:
        reply.gaps.append(f"{len(every) - most} more remarks are left out.")
    reply.failures += [
        f"only the first {MAX_TEXT_CHARS} characters of {name} were read" for name in cut
    ]
    return reply


def _report_text(
    reply: ToolReport, name: str, length: int, counts: ReadingGrade, remarks: Sequence[ProseRemark]
) -> None:
    level = f"{counts.flesch_kincaid:.1f}" if counts.words >= MIN_WORDS else "too short to say"
    cells = (length, counts.sentences, f"{counts.words_per_sentence:.1f}", level, len(remarks))
    reply.lines.append(f"| {name.replace('|', '/')} | {' | '.join(map(str, cells))} |")
    told = f"{name} has {length} words, {format_count(counts.sentences, 'sentence')}"
    reply.add_claim(f"{told} and {format_count(len(remarks), 'remark')}.", name)


def _report_word_limit(reply: ToolReport, name: str, length: int, max_words: int | None) -> None:
    if max_words is None:
        return
    if length > max_words:
        message = f"{length} words, {length - max_words} over the {max_words} that are allowed"
        reply.add_finding("medium", message, name)
    else:
        reply.add_claim(f"{name} keeps within the {max_words} words that are allowed.", name)
