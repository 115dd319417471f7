"""Find what could be improved in a sentence: habits that style books name, and unknown words."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from proselint.checks import __register__  # type: ignore[import-untyped]
from proselint.registry import CheckRegistry  # type: ignore[import-untyped]
from proselint.tools import LintFile  # type: ignore[import-untyped]
from spellchecker import SpellChecker

from extensions.tools.reading.prose_sentences import Sentence
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line

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
