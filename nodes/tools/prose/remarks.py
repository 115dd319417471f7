"""What may be mended in a sentence: habits that style books name, and words of no list."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from proselint.checks import __register__  # type: ignore[import-untyped]
from proselint.registry import CheckRegistry  # type: ignore[import-untyped]
from proselint.tools import LintFile  # type: ignore[import-untyped]
from spellchecker import SpellChecker

from nodes.tools.learning.prose import Sentence
from nodes.tools.plain_text import plain_line

LONG_SENTENCE = 35
"""Words; from there on readers lose the thread."""
KINDS = {
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
"""Families of proselint that are looked for; typography and taste are left out."""
MIN_LETTERS = 4
MIN_FREQUENCY = 1e-5
"""Of a word that a misspelled one may have been meant for."""
MAX_MEANT = 3
BRITISH = (
    *(("our", "or"), ("re", "er"), ("is", "iz"), ("ys", "yz"), ("ll", "l"), ("ogue", "og")),
    *(("ence", "ense"), ("ae", "e"), ("oe", "e"), ("mme", "m")),
)
"""What is spelled otherwise in British English, which the word list does not know."""
MAX_SHOWN_CHARS = 160

_PLAIN_WORD = re.compile(rf"(?<![\w'\u2019\-./@])[a-z]{{{MIN_LETTERS},}}(?![\w'\u2019\-/@])")


@dataclass(frozen=True)
class Remark:
    """One thing to look at, and what might stand there."""

    line: int
    kind: str
    words: str
    instead: str = ""


def remarks_on(sentences: Sequence[Sentence]) -> list[Remark]:
    """Look at each sentence; of remarks on the same words only the first is kept."""
    found = [remark for each in sentences for remark in _remarks(each)]
    kept: dict[tuple[int, str], Remark] = {}
    for remark in found:
        overlapping = [key for key in kept if key[0] == remark.line and remark.words in key[1]]
        if not overlapping:
            kept[remark.line, remark.words] = remark
    return list(kept.values())


def _remarks(sentence: Sentence) -> Iterator[Remark]:
    if len(sentence.words) > LONG_SENTENCE:
        shown = plain_line(sentence.text, MAX_SHOWN_CHARS)
        yield Remark(sentence.line, f"{len(sentence.words)} words in a sentence", shown)
    yield from _habits(sentence)
    yield from _misspelled(sentence)


def _habits(sentence: Sentence) -> Iterator[Remark]:
    _register()
    file = LintFile("sentence", sentence.text)
    checks = dict.fromkeys(KINDS, True) | {"industrial_language.corporate_speak": True}
    for result in file.lint({"max_errors": 100, "checks": checks}):
        found = result.check_result
        begin, end = found.span
        # Its positions count from one, since it puts a line break before the text.
        words = sentence.text[begin - 1 : end - 1].strip()
        parts = found.check_path.split(".")
        kind = next((KINDS[part] for part in parts if part in KINDS), "")
        if words and kind:
            yield Remark(sentence.line, kind, words, found.replacements or "")


def _misspelled(sentence: Sentence) -> Iterator[Remark]:
    words = _words()
    for word in sorted(words.unknown(_PLAIN_WORD.findall(sentence.text))):
        near = [] if _is_british(word) else list(words.candidates(word) or [])
        often = {each: words.word_usage_frequency(each) for each in near}
        meant = sorted(
            (each for each in often if often[each] >= MIN_FREQUENCY), key=often.__getitem__
        )
        if meant:
            instead = " or ".join(reversed(meant[-MAX_MEANT:]))
            yield Remark(sentence.line, "in no word list", word, instead)


def _is_british(word: str) -> bool:
    return bool(_words().known(word.replace(*pair) for pair in BRITISH if pair[0] in word))


@cache
def _register() -> None:
    CheckRegistry().register_many(__register__)


@cache
def _words() -> SpellChecker:
    return SpellChecker(distance=1)
