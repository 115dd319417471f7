"""Find what a question about a contract is about, when it names no kind of clause."""

from collections.abc import Sequence

from nodes.limits.patterns import Pattern
from nodes.text.word_lists import UNSPECIFIC_WORDS

from .contract import Contract, ContractPassage
from .phrases import parse_phrase

MAX_PASSAGES = 6
MIN_SHARE = 0.5
"""Share of a question's words that a contract must hold to have an answer."""
MIN_STEM_CHARS = 6
"""Shorter words must match exactly: `trade` must not find trademarks."""
_WORD = Pattern(r"[a-z][a-z'-]{2,}")
_DOMAIN_PHRASES = tuple(
    map(
        parse_phrase,
        (
            "contract*|agreement*|lease*|licence*|license*|deed*|nda*|clause*|provision*",
            "playbook*|complian*|comply|risk*|legal*|lawyer*|counsel",
            "parties|counterpart*|signator*|obligation*|terms|covenant*|quotation*|quote*",
            "sign|signing|signed|redline*|negotiat*|due diligence",
        ),
    )
)


def is_in_scope(query: str) -> bool:
    """Return whether a query names a subject of a contract review, or no subject in particular."""
    low = query.lower()
    named = any(True for each in _DOMAIN_PHRASES for _ in each.find_matches(low))
    return named or not extract_subject_words(query)


def extract_subject_words(query: str) -> list[str]:
    """Return the words of a query that name its subject."""
    words = _WORD.findall(query.lower())
    return [word for word in dict.fromkeys(words) if word not in UNSPECIFIC_WORDS]


def find_passages_about(contract: Contract, words: Sequence[str]) -> list[ContractPassage]:
    """Return the sentences with most of the words, by rarity; none if most words do not occur."""
    hits = {word: contract.find_phrases([parse_phrase(_build_word_forms(word))]) for word in words}
    if sum(map(bool, hits.values())) < MIN_SHARE * len(words):
        return []
    first = {hit.sentence: hit for found in hits.values() for hit in reversed(found)}
    weights = dict.fromkeys(first, 0.0)
    for found in hits.values():
        spans = {hit.sentence for hit in found}
        for span in spans:
            weights[span] += 1 / len(spans)
    least = MIN_SHARE * max(weights.values())
    best = sorted((span for span in weights if weights[span] >= least), key=lambda s: -weights[s])
    return [contract.build_passage(first[span]) for span in sorted(best[:MAX_PASSAGES])]


def _build_word_forms(word: str) -> str:
    stem = word.removesuffix("'s").removesuffix("s")
    return f"{stem}*" if len(stem) >= MIN_STEM_CHARS else f"{stem}|{stem}s"
