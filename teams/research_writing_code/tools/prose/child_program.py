"""The child process that reads texts: hostile input can keep a Markdown parser busy."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Any

from proselint.checks import __register__  # type: ignore[import-untyped]
from proselint.registry import CheckRegistry  # type: ignore[import-untyped]
from proselint.tools import LintFile  # type: ignore[import-untyped]
from spellchecker import SpellChecker

from extensions.tools.reading.prose_sentences import (
    MAX_TEXT_CHARS,
    ReadingGrade,
    Sentence,
    grade_sentences,
    split_sentences,
)
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

LONG_SENTENCE_WORDS = 35
"""Words from which on a sentence is long."""
REMARK_KINDS = {
    "cliches": "cliché",
    "corporate_speak": "cliché",
    "hedging": "hedging",
    "lexical_illusions": "repeated words",
    "malapropisms": "mixed up words",
    "mixed_metaphors": "mixed metaphors",
    "mondegreens": "mixed up words",
    "needless_variants": "needless variant",
    "nonwords": "no word",
    "oxymorons": "oxymoron",
    "redundancy": "redundant",
    "spelling": "spelling",
    "uncomparables": "cannot be compared",
}
"""Families of proselint checks that are used; typography and taste are left out."""
MIN_LETTERS = 4
MIN_FREQUENCY = 1e-5
"""Corrections suggested for a misspelled word."""
MAX_SUGGESTIONS = 3
BRITISH_SPELLINGS = (
    *(("our", "or"), ("re", "er"), ("is", "iz"), ("ys", "yz"), ("ll", "l"), ("ogue", "og")),
    *(("ence", "ense"), ("ae", "e"), ("oe", "e"), ("mme", "m")),
)
"""British spellings, which the word list does not know."""
MAX_SHOWN_CHARS = 160
MAX_STYLE_REMARKS = 1000
"""Remarks on habits, in one text."""

_SENTENCE_SEPARATOR = "\n\u00a7\n"
"""A separator that keeps the end of one sentence and the beginning of the next apart."""
_PLAIN_WORD = Pattern(rf"(?<![\w'\u2019\-./@])[a-z]{{{MIN_LETTERS},}}(?![\w'\u2019\-/@])")


@dataclass(frozen=True)
class ProseRemark:
    """A remark, and a possible replacement."""

    line: int
    kind: str
    words: str
    replacement: str = ""


def find_remarks(sentences: Sequence[Sentence]) -> list[ProseRemark]:
    """Return the remarks on each sentence; of remarks on the same words only the first."""
    kept: dict[int, list[ProseRemark]] = defaultdict(list)
    for remark in [
        *_find_long_sentences(sentences),
        *_find_style_remarks(sentences),
        *_find_misspellings(sentences),
    ]:
        if not any(remark.words in other.words for other in kept[remark.line]):
            kept[remark.line].append(remark)
    return [remark for line in sorted(kept) for remark in kept[line]]


def _find_long_sentences(sentences: Sequence[Sentence]) -> Iterator[ProseRemark]:
    for sentence in sentences:
        if len(sentence.words) > LONG_SENTENCE_WORDS:
            shown = sanitize_line(sentence.text, MAX_SHOWN_CHARS)
            yield ProseRemark(sentence.line, f"{len(sentence.words)} words in a sentence", shown)


def _find_style_remarks(sentences: Sequence[Sentence]) -> Iterator[ProseRemark]:
    """Lint all sentences at once, since choosing the checks takes longer than running them."""
    _register_checks()
    text = _SENTENCE_SEPARATOR.join(sentence.text for sentence in sentences)
    starts = list(
        accumulate((len(each.text) + len(_SENTENCE_SEPARATOR) for each in sentences), initial=0)
    )
    checks = dict.fromkeys(REMARK_KINDS, True) | {"industrial_language.corporate_speak": True}
    for result in LintFile("text", text).lint({"max_errors": MAX_STYLE_REMARKS, "checks": checks}):
        found = result.check_result
        begin, end = found.span
        # Its positions count from one, since it puts a line break before the text.
        words = text[begin - 1 : end - 1].strip()
        kind = next(
            (REMARK_KINDS[part] for part in found.check_path.split(".") if part in REMARK_KINDS), ""
        )
        if words and kind:
            sentence = sentences[bisect_right(starts, begin - 1) - 1]
            yield ProseRemark(sentence.line, kind, words, found.replacements or "")


def _find_misspellings(sentences: Sequence[Sentence]) -> Iterator[ProseRemark]:
    for sentence in sentences:
        for word in _PLAIN_WORD.findall(sentence.text):
            if instead := _suggest_spelling(word):
                yield ProseRemark(sentence.line, "in no word list", word, instead)


@cache
def _suggest_spelling(word: str) -> str:
    """Return corrections of an unknown word; empty for a known one."""
    known = _load_word_list()
    if not known.unknown([word]) or _is_british(word):
        return ""
    often = {each: known.word_usage_frequency(each) for each in known.candidates(word) or ()}
    near = [each for each in often if often[each] >= MIN_FREQUENCY]
    return " or ".join(sorted(near, key=lambda each: -often[each])[:MAX_SUGGESTIONS])


def _is_british(word: str) -> bool:
    return bool(
        _load_word_list().known(
            word.replace(*pair) for pair in BRITISH_SPELLINGS if pair[0] in word
        )
    )


@cache
def _register_checks() -> None:
    CheckRegistry().register_many(__register__)


@cache
def _load_word_list() -> SpellChecker:
    return SpellChecker(distance=1)


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
