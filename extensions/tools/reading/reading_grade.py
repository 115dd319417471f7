"""How hard a text is to read, as a US school grade, by three published formulas."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import syllapy  # type: ignore[import-untyped]

from extensions.tools.reading.prose_sentences import Sentence

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
    return max(1, int(syllapy.count(word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))))
