"""The passages that a statement rests on: its quotation's, or those that fit it best."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.proof.passages import Passage, list_words, split_words
from nodes.proof.quotations import is_quoted, normalize_words, split_at_ellipsis
from nodes.proof.tables import SEGMENT, select_rows
from nodes.proof.texts import SourceText
from nodes.text.dates import Period
from nodes.text.figures import Figures, Quantity, count_year, read_figures
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS

_SENTENCE_END: Final = Pattern(r"(?<=[.!?])\s+(?=[A-Z\u00c0-\u00dc])")
LIGHT_STEMS: Final = frozenset(
    stem for word in FUNCTION_WORDS | QUESTION_WORDS for stem in list_words(word)
)
MIN_TIE: Final = 0.9
"""Of the best passage's score: such passages are as good."""
MIN_SHARE: Final = 0.5
"""Of the best passage's score that one must have which fits a part of the statement best."""
MAX_UNTIED: Final = 3
"""Passages of a source so short that a statement without any of its words can rest on it."""
MAX_GROUNDS, MAX_HELD, MAX_NAMED_ROWS, MAX_COMPARED = 8, 12, 200, 200


@dataclass(frozen=True)
class Ground:
    """A passage that a statement rests on, with the words around it."""

    text: str
    around: str
    """Its heading or labels, and the name and title of its source."""
    source: SourceText
    rows: tuple[Passage, ...] = ()
    """Of a table; the passage is the first of them."""


@dataclass(frozen=True)
class Grounds:
    """All that one statement rests on, as it can be compared."""

    grounds: tuple[Ground, ...]
    said: str = ""
    """The user's own words."""

    @cached_property
    def numbers(self) -> list[Quantity]:
        """Those of sentences; those of tables are found by row and column."""
        shown = [read_figures(each.text) for each in self.grounds if not each.rows]
        years = [period for each in shown for period in each.periods if period.is_bare_year]
        return [number for each in shown for number in each.numbers] + list(map(count_year, years))

    def list_joined(self) -> list[Quantity]:
        """Return the numbers of the two best sentences, between which a step may be made."""
        shown = [read_figures(each.text) for each in self.grounds if not each.rows][:2]
        return [number for figures in shown for number in figures.numbers]

    @cached_property
    def periods(self) -> list[Period]:
        """Those of the passages and around them, and the user's."""
        figures = [read_figures(text) for text in (self.words, self.said)]
        return [period for each in figures for period in each.periods]

    @cached_property
    def _columns(self) -> set[str]:
        rows = [each.rows[0] for each in self.grounds if each.rows]
        return {
            word for row in rows for name, _ in row.cells for word in split_words(name.casefold())
        }

    def names_column(self, text: str) -> bool:
        """Return whether words are part of the names of a table's columns: incidents 85-99."""
        words = split_words(text.casefold())
        return bool(words) and {*words} <= self._columns

    @property
    def shown_periods(self) -> Sequence[Period]:
        """Those of the passages alone."""
        return read_figures(" ".join(each.text for each in self.grounds[:2])).periods

    @cached_property
    def words(self) -> str:
        """The passages and what is around them."""
        return "\n".join(f"{each.text}\n{each.around}" for each in self.grounds)

    @cached_property
    def normalized(self) -> str:
        return normalize_words(self.words)

    @property
    def sources(self) -> list[SourceText]:
        """Each once."""
        return list(dict.fromkeys(each.source for each in self.grounds))

    def has_said(self, quantity: Quantity) -> bool:
        """Return whether the user's own words have a quantity."""
        figures: Figures = read_figures(self.said)
        return any(quantity.equals(number) for number in figures.numbers)


def find_grounds(text: str, sources: Iterable[SourceText]) -> list[Ground]:
    """Return the passages that fit a statement best: of a table its rows, else sentences."""
    rows_found, found = list[Ground](), list[tuple[float, Ground]]()
    for source in sources:
        rows, sentences = select_rows(text, source), list(_find_sentences(text, source))
        if not (rows or sentences) and len(source.passages) <= MAX_UNTIED:
            rows = [each for each in source.passages if each.cells]
            sentences = [(0.0, _build_ground(source, each)) for each in source.passages]
        if rows:
            rows_found.append(_build_ground(source, rows[0], tuple(rows)))
        found += sentences
    top = max((score for score, _ in found), default=0.0)
    kept = sorted((pair for pair in found if pair[0] >= MIN_SHARE * top), key=lambda p: -p[0])
    return [*rows_found, *dict.fromkeys(ground for _, ground in kept)][:MAX_GROUNDS]


def find_quotation(quotation: str, sources: Iterable[SourceText]) -> list[Ground]:
    """Return a quotation as the ground of each source that has it, around it its sentences.

    Of a table's row that is quoted, the row is the ground.
    """
    grounds = list[Ground]()
    parts = [normalize_words(part) for part in split_at_ellipsis(quotation)]
    for source in sources:
        if not is_quoted(quotation, source.text):
            continue
        rows = [row for row in select_rows(quotation, source) if _is_row_quoted(row, quotation)]
        if rows:
            grounds.append(_build_ground(source, rows[0], tuple(rows)))
            continue
        ranked = source.rank(list_words(quotation))
        likely = sorted(ranked, key=lambda at: (-ranked[at], at))[:MAX_HELD]
        held = list[Passage]()
        for passage in (source.passages[at] for at in sorted(likely)):
            words = normalize_words(passage.text)
            if words and any(part and (part in words or words in part) for part in parts):
                held.append(passage)
        headings = dict.fromkeys(passage.heading for passage in held)
        around = " ".join([*(passage.text for passage in held), *headings, source.title])
        grounds.append(Ground(quotation, around, source))
    return grounds


def _is_row_quoted(row: Passage, quotation: str) -> bool:
    """Return whether a quotation has cells of a row and nothing else but names of columns."""
    words = {*split_words(quotation.casefold())}
    known = {word for pair in row.cells for text in pair for word in split_words(text.casefold())}
    return bool(words) and words <= known


def _find_sentences(text: str, source: SourceText) -> Iterator[tuple[float, Ground]]:
    """Yield the sentences that fit a statement best, and those that fit a part of it best.

    Each sentence of the statement has its own; a part of one, such as what a comma divides, only
    where that fits about as well as the best.
    """
    sentences, best = _SENTENCE_END.split(text), 0.0
    for sentence in sentences:
        ranked = _rank_sentences(source, list_words(sentence))
        best = max(best, ranked[0][0] if ranked else 0.0)
        yield from ((max(score, best), _build_ground(source, each)) for score, each in ranked)
    parts = SEGMENT.split(text)
    for part in parts if len(parts) > 1 else ():
        for score, passage in _rank_sentences(source, list_words(part)):
            if score >= MIN_SHARE * best:
                yield MIN_TIE * score, _build_ground(source, passage)


def _rank_sentences(source: SourceText, words: Sequence[str]) -> list[tuple[float, Passage]]:
    """Return the sentences that fit the words, not the figures, of a text best, the best first.

    Of those that have its rare words, one with fewer other words fits better.
    """
    wanted = {word for word in words if not word.isdigit()} - LIGHT_STEMS
    scores = source.rank(wanted)
    found = [(score, at) for at, score in scores.items() if not source.passages[at].cells]
    best = max((score for score, _ in found), default=0.0)
    near = [(score, at) for score, at in found if score >= MIN_TIE * best][:MAX_COMPARED]
    ranked = list[tuple[float, Passage]]()
    for score, at in near:
        held = {*list_words(source.passages[at].text)}
        ranked.append(
            (score * (1 + len(wanted & held) / (len(wanted | held) or 1)), source.passages[at])
        )
    ranked.sort(key=lambda pair: -pair[0])
    return [pair for pair in ranked if pair[0] >= MIN_TIE * ranked[0][0]][:MAX_GROUNDS]


def _build_ground(source: SourceText, passage: Passage, rows: tuple[Passage, ...] = ()) -> Ground:
    words = " ".join(row.text for row in rows[:MAX_NAMED_ROWS]) or passage.heading
    return Ground(passage.text, f"{words} {source.title}", source, rows)
