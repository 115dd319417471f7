"""Match texts to a question by shared words; rare words count most."""

import math
import re
from collections.abc import Hashable, Mapping, Set
from functools import cached_property
from itertools import islice
from typing import TypeVar

from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS

MIN_SHARE = 0.34
"""Share of the weight of the question's words that a text must have to answer it."""
MIN_SHARE_OF_BEST = 0.75
"""Share of the best text's weight that another must have to be listed beside it."""
MIN_HEAD_WORDS = 2
"""Shared words in a text's title or its keywords: fewer are chance."""
MAX_HOLDERS = 2
"""Weight of a word in the head that is enough by itself; without one, more must be shared."""
MIN_SHARE_OF_COMMON = 0.5
MIN_SHARE_OF_ONE = 0.6
"""Where only one word is in the head of this text, and in no other head."""
BODY_ONLY_WEIGHT = 0.5
"""Weight of a word that is in the text, but not in its head."""
UNKNOWN_WORD_WEIGHT = 0.5
"""Weight of a word that no text has."""
MAX_WORDS = 60
MAX_CLAUSES = 8
"""Words of a question that are looked up."""

Name = TypeVar("Name", bound=Hashable)
WordHolders = tuple[set[Name], set[Name]]
"""The texts that have a word in their head, and those that have it in their body."""

_WORD = Pattern(r"[^\W_]+")
_COUNTRIES = {
    "USA": Pattern(r"\bU\.S\.(?:A\.)?|\bUS\b|\b[Uu]nited [Ss]tates\b"),
    "UK": Pattern(r"\bU\.K\.|\bunited kingdom\b", re.IGNORECASE),
    "EU": Pattern(r"\bE\.U\.|\beuropean union\b", re.IGNORECASE),
}
"""Names of countries, mapped to one word; "us" in lower case is not a country."""
_CLAUSE_END = Pattern(r"[.?!;:,]\s+|\s(?:and|but|also|then)\s")
_SMALL_TALK = """
    able actually allowed anyway apply back case come does doesn don explain get give given go going
    good happen happens help hello hi if isn know legal legally let like ll long made make makes
    matter mean means my need needs ok old people please possible put question re really right rule
    rules said say says see set should someone somebody sort start still take tell thanks thing
    things think try us use used ve want way what when wondering would
"""
_STOP_WORDS = FUNCTION_WORDS | QUESTION_WORDS | frozenset(_SMALL_TALK.split())


def split_question(question: str) -> list["QuestionWords"]:
    """Return the words of a question, then of its clauses: it may ask several things."""
    clauses = map(QuestionWords, _CLAUSE_END.split(question))
    telling = (each for each in clauses if len(each.keywords) >= MIN_HEAD_WORDS)
    return [QuestionWords(question), *islice(telling, MAX_CLAUSES)]


class QuestionWords:
    """The words of a question that identify its subject."""

    def __init__(self, question: str) -> None:
        for country, names in _COUNTRIES.items():
            question = names.sub(country, question)
        self._all_words = [word.lower() for word in _WORD.findall(question)]

    @cached_property
    def keywords(self) -> tuple[str, ...]:
        """Return the words that are neither function words nor filler."""
        found = (word for word in self._all_words if word not in _STOP_WORDS and len(word) > 1)
        return tuple(dict.fromkeys(found))[:MAX_WORDS]

    def rank_texts(
        self, holding: Mapping[str, WordHolders[Name]], *, among: Set[Name] | None = None
    ) -> list[Name]:
        """Return the texts that answer the question, the best first.

        Args:
            holding: for each word the texts that have it.
            among: those that may answer; the others only make a word less rare.
        """
        texts = {name for heads, bodies in holding.values() for name in heads | bodies}
        texts = texts if among is None else texts & among
        weights = {word: _compute_weight(len(held[0] | held[1])) for word, held in holding.items()}
        total = sum(weights.values())
        shares = {
            name: sum(weights[word] * _weigh_place(name, holding[word]) for word in holding) / total
            for name in texts
        }
        fit = [name for name in texts if shares[name] >= _compute_required_share(name, holding)]
        best = max((shares[name] for name in fit), default=0.0)
        found = [name for name in fit if shares[name] >= MIN_SHARE_OF_BEST * best]
        return sorted(found, key=lambda name: (-shares[name], str(name)))


def _compute_weight(holders: int) -> float:
    return 1 / (1 + math.log(holders)) if holders else UNKNOWN_WORD_WEIGHT


def _compute_required_share(name: Name, holding: Mapping[str, WordHolders[Name]]) -> float:
    """Return the share that a text must have, by which words of the question its head has."""
    holders = [len(heads) for heads, _ in holding.values() if name in heads]
    if len(holders) < min(MIN_HEAD_WORDS, len(holding)):
        return MIN_SHARE_OF_ONE if holders == [1] else math.inf
    return MIN_SHARE if min(holders) <= MAX_HOLDERS else MIN_SHARE_OF_COMMON


def _weigh_place(name: Name, held: WordHolders[Name]) -> float:
    heads, bodies = held
    return 1.0 if name in heads else BODY_ONLY_WEIGHT if name in bodies else 0.0
