"""Find the passages that have the rare words of a query, not only one or two chance words."""

import math

from extensions.tools.documents.index import STOP_WORDS, PassageIndex
from extensions.tools.documents.passages import Passage
from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS

MIN_SHARE = 0.4
"""Share of the weight of the query's words that a passage must have."""
MIN_SHARE_OF_BEST = 0.75
"""Share of the best passage's weight that another must have to be listed beside it."""
MAX_HITS = 100
"""Passages examined for each word."""
MAX_WORDS = 40
"""Words of a query that are looked up."""

_WORD = Pattern(r"[^\W_]{2,}")
_IGNORED_WORDS = FUNCTION_WORDS | QUESTION_WORDS | STOP_WORDS


def extract_keywords(query: str) -> tuple[str, ...]:
    """Return the words of a query that are not grammar."""
    words = (word.lower() for word in _WORD.findall(query))
    return tuple(dict.fromkeys(word for word in words if word not in _IGNORED_WORDS))[:MAX_WORDS]


def find_covering_passages(index: PassageIndex, query: str) -> list[Passage]:
    """Return the passages that cover a query, the best first; none if none covers it.

    A word weighs the more the fewer passages have it; most if none has it. One shared word is
    enough only if no other passage has it, and this one has it in the same form.
    """
    words = extract_keywords(query)
    holders = {word: {hit.passage for hit in index.search(word, MAX_HITS)} for word in words}
    weights = {word: math.log(1 + MAX_HITS / max(1, len(holders[word]))) for word in words}
    shared = {
        passage: [word for word in words if passage in holders[word]]
        for passage in set().union(*holders.values())
    }
    total = sum(weights.values())
    shares = {
        passage: sum(weights[word] for word in found) / total
        for passage, found in shared.items()
        if len(found) > 1 or (len(holders[found[0]]) == 1 and _has_word(passage, found[0]))
    }
    least = max(MIN_SHARE, MIN_SHARE_OF_BEST * max(shares.values(), default=0.0))
    kept = [passage for passage in shares if shares[passage] >= least]
    return sorted(kept, key=lambda each: (-shares[each], each.source, each.text))


def _has_word(passage: Passage, word: str) -> bool:
    return word in _WORD.findall(f"{passage.place} {passage.text}".lower())
