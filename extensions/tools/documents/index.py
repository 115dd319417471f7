"""A ranked full-text index over passages, and the terms of a query."""

import math
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from extensions.tools.documents.passages import Passage
from nodes.limits.patterns import Pattern
from nodes.text.word_lists import (
    FUNCTION_WORDS,
    GERMAN_FUNCTION_WORDS,
    LIGHT_VERBS,
    QUESTION_WORDS,
)

__all__ = ["STOP_WORDS", "PassageHit", "PassageIndex", "Term"]

Term = tuple[str, ...]
MIN_CANDIDATES = 60
COLUMN_WEIGHTS = (1.0, 2.0, 1.5)
"""What a word counts in the text, in the place and in the source's name."""
SATURATION = 1.2
LENGTH_SHARE = 0.6
"""How much a long passage needs more of a word than a short one; 0 is not at all."""
LIGHT_WEIGHT = 0.3
"""What a word without content counts: "next" may tell passages apart, "the" is everywhere."""
REFERENCE_WEIGHT = 0.3
MIN_PART_CHARS: Final = 4
"""Of each of the two words of a compound."""
MAX_COMPOUND_CHARS: Final = 40
"""Of a word that is divided, or known by its endings."""
MIN_BASE_CHARS: Final = 5
"""Of a word without its ending."""
LINKS: Final = ("", "s", "es", "n", "en")
"""Letters between the words of a German compound."""
ENDINGS: Final = ("", "e", "en", "er", "es", "n", "s", "t")
"""Of German words; SQLite cuts those of English."""
_REFERENCE = Pattern(r"[ \t]{0,3}(?:\[[^\]]{1,200}\]:|\.\. _[^:]{1,200}:)[ \t]*(?:\S+)?[ \t]*$")
_TABLE = (
    "CREATE VIRTUAL TABLE passages USING fts5"
    "(text, place, source, tokenize = 'porter unicode61 remove_diacritics 2')"
)


@dataclass(frozen=True)
class PassageHit:
    """A passage that matches, and its score: the higher the better."""

    passage: Passage
    score: float


class PassageIndex:
    """Finds passages by words, best first. Never changes once built.

    Args:
        base: an index whose passages are found too, so that they are not indexed again.
        hidden: names of documents of the base that are not found.
    """

    def __init__(
        self,
        passages: Iterable[Passage],
        base: "PassageIndex | None" = None,
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        self._base, self._hidden = base, hidden
        self._lock = threading.Lock()
        self._database = _create_table(passages)

    @classmethod
    def load(cls, raw: bytes) -> "PassageIndex":
        """Return the index that `save` has written the bytes of."""
        index = cls(())
        index._database.deserialize(raw)
        return index

    def save(self, path: Path) -> None:
        """Write the index without its base to an empty file.

        Raises:
            sqlite3.Error: it cannot be written.
        """
        with self._lock:
            self._database.commit()
            self._database.execute("VACUUM INTO ?", (str(path),))

    def search(self, query: str, max_results: int) -> list[PassageHit]:
        """Return the passages that hold any of the query's words; none if it has no words."""
        terms = self._replace_absent(list_query_terms(query))
        telling = [term for term in terms if not is_light(term)] or terms
        if not terms:
            return []
        most = max(MIN_CANDIDATES, 2 * max_results)
        found = list(dict.fromkeys(self._find_candidates(telling, most)))
        scores = _score_passages(found, terms, self._measure_rarity(terms))
        order = sorted(range(len(found)), key=lambda n: (-scores[n], n))
        return [PassageHit(found[n], round(scores[n], 3)) for n in order[:max_results]]

    def split_words(self, query: str) -> tuple[list[str], list[str]]:
        """Return the content words of a query: those that some passage has, and those of none.

        A year or another whole number says too little to be one that a passage has.
        """
        held, absent = list[str](), list[str]()
        for word in dict.fromkeys(_COMPOUND.findall(query.lower())):
            terms = list_query_terms(word)
            whole = [each for each in terms if len(each) == max(map(len, terms))]
            is_letter = len(word) == 1 and word.isalpha()
            is_empty = word in GERMAN_FUNCTION_WORDS | LIGHT_VERBS or all(map(is_light, whole))
            if is_letter or is_empty:
                continue
            if not any(map(self._count_matches, whole)) and not self._find_others(word):
                absent.append(word)
            elif not word.isdigit():
                held.append(word)
        return held, absent

    def _find_candidates(self, terms: Sequence[Term], most: int) -> list[Passage]:
        with self._lock:
            rows = self._database.execute(
                "SELECT source, place, text FROM passages WHERE passages MATCH ? "
                "ORDER BY bm25(passages, ?, ?, ?), rowid LIMIT ?",
                (build_match_expression(terms), *COLUMN_WEIGHTS, most),
            ).fetchall()
        below = self._base._find_candidates(terms, most) if self._base else []
        return [Passage(*row) for row in rows] + [
            each for each in below if each.source not in self._hidden
        ]

    def _replace_absent(self, terms: Sequence[Term]) -> list[Term]:
        """Return terms, with other words in the place of one that no passage has."""
        return [each for term in terms for each in self._find_others(*term) or (term,)]

    def _find_others(self, word: str = "", *others: str) -> list[Term]:
        """Return what passages have of a word that none has: its forms, else its two parts.

        Of "Kündigungsfrist" those are "Kündigung" and "Frist", if some passage has both; of several
        pairs the most even one.
        """
        is_plain = not others and word.isalpha() and len(word) <= MAX_COMPOUND_CHARS
        if not is_plain or is_light((word,)) or self._count_matches((word,)):
            return []
        if forms := self._list_forms(word):
            return forms
        places = range(MIN_PART_CHARS, len(word) - MIN_PART_CHARS + 1)
        for at in sorted(places, key=lambda at: abs(2 * at - len(word))):
            tails = self._list_forms(word[at:]) if word[at:] not in STOP_WORDS else []
            heads = {word[:at].removesuffix(link) for link in LINKS} if tails else set[str]()
            for head in sorted(heads - STOP_WORDS, key=len, reverse=True):
                forms = self._list_forms(head) if len(head) >= MIN_PART_CHARS else []
                pair = [build_match_expression(each) for each in (forms, tails)]
                if forms and self._count(f"({pair[0]}) AND ({pair[1]})"):
                    return [*forms, *tails]
        return []

    def _list_forms(self, word: str) -> list[Term]:
        """Return the forms of a word that passages have: itself, and with German endings."""
        bases = {word.removesuffix(ending) for ending in ENDINGS}
        bases = {base for base in bases if base == word or len(base) >= MIN_BASE_CHARS}
        forms = {(base + ending,) for base in bases for ending in ENDINGS}
        if not self._count(build_match_expression(forms)):
            return []
        return sorted(form for form in forms if self._count_matches(form))

    def _measure_rarity(self, terms: Sequence[Term]) -> dict[Term, float]:
        total = self._count_passages()
        counts = {term: self._count_matches(term) for term in terms}
        return {
            term: (LIGHT_WEIGHT if is_light(term) else 1.0)
            * math.log(1 + (total - counts[term] + 0.5) / (counts[term] + 0.5))
            for term in terms
        }

    def _count_passages(self) -> int:
        with self._lock:
            (count,) = self._database.execute("SELECT count(*) FROM passages_docsize").fetchone()
        return int(count) + (self._base._count_passages() if self._base else 0)

    def _count_matches(self, term: Term) -> int:
        return self._count(_quote(term))

    def _count(self, expression: str) -> int:
        with self._lock:
            (count,) = self._database.execute(
                "SELECT count(*) FROM passages WHERE passages MATCH ?", (expression,)
            ).fetchone()
        return int(count) + (self._base._count(expression) if self._base else 0)


def _create_table(passages: Iterable[Passage]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute(_TABLE)
    rows = ((n, item.text, item.place, item.source) for n, item in enumerate(passages))
    database.executemany("INSERT INTO passages(rowid, text, place, source) VALUES (?,?,?,?)", rows)
    return database


def _score_passages(
    passages: Sequence[Passage], terms: Sequence[Term], rarity: dict[Term, float]
) -> list[float]:
    """Return how well each passage fits: which terms it has, how often, and how rare they are."""
    counts = _count_terms(passages, terms)
    lengths = [len(each.text) + 1 for each in passages]
    mean = sum(lengths) / max(len(lengths), 1)
    total = sum(rarity.values()) or 1.0
    scores = []
    for number, length in enumerate(lengths):
        room = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / mean)
        held = counts[number]
        score = sum(rarity[term] * n * (SATURATION + 1) / (n + room) for term, n in held.items())
        covered = sum(rarity[term] for term in held) / total
        weight = REFERENCE_WEIGHT if _is_references(passages[number].text) else 1.0
        scores.append(score * covered * weight)
    return scores


def _is_references(text: str) -> bool:
    """Return whether most lines say only where a link leads."""
    lines = text.splitlines()
    return 2 * sum(bool(_REFERENCE.match(line)) for line in lines) > len(lines)


def _count_terms(passages: Sequence[Passage], terms: Sequence[Term]) -> list[dict[Term, float]]:
    """Return how often each passage has each term, weighted by where."""
    found: list[dict[Term, float]] = [{} for _ in passages]
    database = _create_table(passages)
    database.execute("CREATE VIRTUAL TABLE words USING fts5vocab(passages, instance)")
    stems = _list_stems(sorted({word for term in terms for word in term}))
    spots = {
        stem: set(
            database.execute(
                "SELECT doc, col, offset FROM words WHERE term = ?", (stem,)
            ).fetchall()
        )
        for stem in set(stems.values())
    }
    weights = dict(zip(("text", "place", "source"), COLUMN_WEIGHTS, strict=True))
    for term in terms:
        first, *others = (spots[stems[word]] for word in term)
        counts = defaultdict[int, float](float)
        for number, column, offset in first:
            if all((number, column, offset + n) in spot for n, spot in enumerate(others, 1)):
                counts[number] += weights[column]
        for number, count in counts.items():
            found[number][term] = count
    return found


def _list_stems(words: Sequence[str]) -> dict[str, str]:
    """Return what the index makes of words that are letters and digits only."""
    database = _create_table([Passage("", "", word) for word in words])
    database.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(passages, instance)")
    found = dict(database.execute("SELECT doc, term FROM stems").fetchall())
    return {word: str(found.get(number, word)) for number, word in enumerate(words)}


MAX_QUERY_WORDS = 32
STOP_WORDS = FUNCTION_WORDS | QUESTION_WORDS | LIGHT_VERBS | {"compare", "find", "list", "show"}

_COMPOUND = Pattern(r"\w+(?:[.\-/:@+]\w+)*+")
_PART = Pattern(r"[^\W_]+")
_VERSION = Pattern(r"(?<!\w)v?+\d\w*+(?:[.\-]\w++)++")


def list_query_terms(query: str) -> tuple[tuple[str, ...], ...]:
    """Return the terms of a query, each as words that follow each other in a text.

    A version, date or number is one term, `v` before it or not; of another compound its parts are
    terms too. Words without content come last.
    """
    found = dict[tuple[str, ...], None]()
    for compound in _COMPOUND.findall(query.lower()):
        parts = tuple(_PART.findall(compound))
        if _VERSION.fullmatch(compound):
            bare = (parts[0].removeprefix("v"), *parts[1:])
            found |= {parts: None, bare: None, (f"v{bare[0]}", *bare[1:]): None}
        elif parts:
            found |= {(part,): None for part in parts} | {parts: None}
    ordered = sorted(found, key=is_light)
    return tuple(ordered[:MAX_QUERY_WORDS])


def is_light(term: tuple[str, ...]) -> bool:
    """Return whether a term is a word without content, which counts little."""
    return len(term) == 1 and term[0] in STOP_WORDS


def build_match_expression(terms: Iterable[tuple[str, ...]]) -> str:
    """Return an FTS5 expression that matches any of the terms; nothing in it is syntax."""
    return " OR ".join(map(_quote, terms))


def _quote(term: Term) -> str:
    return f'"{" ".join(term)}"'
