"""A ranked full-text index over passages, in memory."""

import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS
from nodes.tools.documents.passages import Passage

MAX_QUERY_WORDS = 32
STOP_WORDS = FUNCTION_WORDS | QUESTION_WORDS | {"compare", "find", "give", "list", "show"}


@dataclass(frozen=True)
class PassageHit:
    """A passage that matches, and its score: the higher the better."""

    passage: Passage
    score: float


class PassageIndex:
    """Finds passages by words, best first. Never changes once built."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(
            "CREATE VIRTUAL TABLE passages USING fts5"
            "(text, place, source, tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        rows = ((item.text, item.place, item.source) for item in passages)
        self._database.executemany("INSERT INTO passages VALUES (?, ?, ?)", rows)

    def search(self, query: str, max_results: int) -> list[PassageHit]:
        """Return the passages that hold any of the query's words; none if it has no words."""
        match = build_match_expression(query)
        if not match:
            return []
        with self._lock:
            found = self._database.execute(
                "SELECT text, place, source, bm25(passages, 1.0, 2.0, 1.5) AS score FROM passages "
                "WHERE passages MATCH ? ORDER BY score, rowid LIMIT ?",
                (match, max_results),
            ).fetchall()
        return [
            PassageHit(Passage(source, place, text), round(-score, 3))
            for text, place, source, score in found
        ]


def build_match_expression(query: str) -> str:
    """Return an FTS5 expression that matches any of the words; nothing in it is syntax."""
    words = [word.lower() for word in Pattern(r"\w+").findall(query)]
    telling = [word for word in words if word not in STOP_WORDS] or words
    return " OR ".join(f'"{word}"' for word in list(dict.fromkeys(telling))[:MAX_QUERY_WORDS])
