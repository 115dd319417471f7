"""Split the prose of a document into sentences, with their lines, and grade how hard they read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import PurePosixPath
from statistics import median

from markdown_it import MarkdownIt

from nodes.limits.patterns import Pattern
from nodes.text.csv_table import is_table_name
from nodes.text.plain_text import sanitize_line

NON_PROSE_SUFFIXES = frozenset((".json", ".yaml", ".yml", ".log"))
MAX_TEXT_CHARS = 200_000
MIN_BLOCK_WORDS = 5
"""Shorter ones are labels, not sentences."""
MAX_TITLE_CHARS = 80
MAX_ABBREVIATION_CHARS = 10
MIN_SENTENCES = 3
"""Sentences outside of lists, for a text to be prose."""

_WORD = Pattern(r"[^\W\d_]+(?:['\u2019\-][^\W\d_]+)*")
_SENTENCE_END = Pattern(
    r"(?<=[.!?])[\"'”)\]]*\s+(?=[\"'“(\[]?[A-Z0-9])|(?<=[a-z]{4}[.!?])\s+(?=[a-z])"
)
"""A sentence may begin with a name in small letters, after a word that is no abbreviation."""
_LINK_TARGET = Pattern(r"\]\([^()\s]{0,500}\)")
_MARKUP = Pattern(r"[*_`\[\]]")
_ABBREVIATION = Pattern(r"(?:\b(?:e\.g|i\.e|etc|cf|Dr|Mr|Mrs|Ms|St|No|Fig|vs|approx)|\b[A-Z])\.$")


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the line on which its paragraph begins."""

    text: str
    line: int
    is_list_item: bool = False

    @property
    def words(self) -> list[str]:
        return _WORD.findall(self.text)


def is_prose(name: str, text: str) -> bool:
    """Return whether a material is prose: not a table, and more than headings and lists."""
    if is_table_name(name) or PurePosixPath(name.lower()).suffix in NON_PROSE_SUFFIXES:
        return False
    outside = (sentence for sentence in split_sentences(text) if not sentence.is_list_item)
    return len(list(islice(outside, MIN_SENTENCES))) == MIN_SENTENCES


def split_sentences(text: str) -> Iterator[Sentence]:
    """Return the sentences of paragraphs and list items; not headings, tables and code."""
    is_open, depth = False, 0
    for token in build_block_parser().parse(text[:MAX_TEXT_CHARS]):
        if token.type in ("list_item_open", "list_item_close"):
            depth += token.nesting
        elif token.type in ("paragraph_open", "paragraph_close"):
            is_open = token.type == "paragraph_open"
        elif token.type == "inline" and is_open:
            words = _MARKUP.sub("", _LINK_TARGET.sub("]", token.content))
            if len(_WORD.findall(words)) >= MIN_BLOCK_WORDS:
                line = token.map[0] + 1 if token.map else 1
                parts = filter(_WORD.search, _split_paragraph(words))
                yield from (Sentence(part, line, depth > 0) for part in parts)


@cache
def build_block_parser() -> MarkdownIt:
    """Build a parser of blocks only: nested links and emphasis can make parsing endless."""
    rules = (
        "blockquote",
        "code",
        "fence",
        "heading",
        "hr",
        "html_block",
        "lheading",
        "list",
        "table",
    )
    return MarkdownIt("zero").enable(list(rules))


def find_title(name: str, text: str) -> str:
    """Return a document's first heading, else its file's name in words."""
    heading = Pattern(r"^#{1,6}\s++(.*[^\s#])[ \t#]*+$", re.MULTILINE).search(text)
    words = PurePosixPath(name).stem.replace("_", " ").replace("-", " ")
    return sanitize_line(heading[1], MAX_TITLE_CHARS) if heading else words.capitalize()


def _split_paragraph(paragraph: str) -> Iterator[str]:
    held: list[str] = []
    for part in _SENTENCE_END.split(" ".join(paragraph.split())):
        held.append(part)
        if not _ABBREVIATION.search(part[-MAX_ABBREVIATION_CHARS:]):
            yield " ".join(held)
            held = []
    if held:
        yield " ".join(held)


FORMULAS = (
    "Flesch-Kincaid (Kincaid and others 1975), Automated Readability Index (Smith and Senter "
    "1967), Coleman-Liau (1975)"
)


@dataclass(frozen=True)
class ReadingGrade:
    """Counts of a text, and its grades."""

    words: int
    sentences: int
    syllables: int
    letters: int

    @property
    def words_per_sentence(self) -> float:
        return self.words / self.sentences

    @property
    def syllables_per_word(self) -> float:
        return self.syllables / self.words

    @property
    def flesch_kincaid(self) -> float:
        return 0.39 * self.words_per_sentence + 11.8 * self.syllables_per_word - 15.59

    @property
    def automated_readability(self) -> float:
        return 4.71 * self.letters / self.words + 0.5 * self.words_per_sentence - 21.43

    @property
    def coleman_liau(self) -> float:
        per_100 = 100 / self.words
        return 0.0588 * self.letters * per_100 - 0.296 * self.sentences * per_100 - 15.8

    @property
    def median_grade(self) -> float:
        """Return the median of the three grades."""
        return median((self.flesch_kincaid, self.automated_readability, self.coleman_liau))


def grade_sentences(sentences: Sequence[Sentence]) -> ReadingGrade:
    """Count the words, syllables and letters of sentences; at least one word is required."""
    words = [word for sentence in sentences for word in sentence.words]
    return ReadingGrade(
        words=len(words),
        sentences=len(sentences),
        syllables=sum(map(count_syllables, words)),
        letters=sum(character.isalpha() for word in words for character in word),
    )


def count_syllables(word: str) -> int:
    """Count syllables by a word list, else by the vowels; every word has at least one."""
    import syllapy  # type: ignore[import-untyped]  # optional: not every team grades

    return max(1, int(syllapy.count(word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))))
