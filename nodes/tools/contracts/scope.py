"""What a question about a contract is about, when it names no kind of clause."""

from collections.abc import Sequence

from nodes.checks.words import ANYTHING
from nodes.limits.patterns import Pattern
from nodes.tools.contracts.contract import Contract, Passage
from nodes.tools.contracts.phrases import phrase

MAX_FOUND = 6
MIN_SHARE = 0.5
"""Of a question's words, that a contract must hold to have an answer."""
MIN_STEM_CHARS = 6
"""Shorter words are looked for as they are: `trade` must not find trademarks."""
_WORD = Pattern(r"[a-z][a-z'-]{2,}")
_DOMAIN = tuple(
    map(
        phrase,
        (
            "contract*|agreement*|lease*|licence*|license*|deed*|nda*|clause*|provision*",
            "playbook*|complian*|comply|risk*|legal*|lawyer*|counsel",
            "parties|counterpart*|signator*|obligation*|terms|covenant*|quotation*|quote*",
            "sign|signing|signed|redline*|negotiat*|due diligence",
        ),
    )
)


def is_in_scope(query: str) -> bool:
    """Say whether a query speaks of what a contract review knows, or of nothing in particular."""
    low = query.lower()
    named = any(True for each in _DOMAIN for _ in each.matches(low))
    return named or not subjects(query)


def subjects(query: str) -> list[str]:
    """Give the words of a query that say what it is about."""
    words = _WORD.findall(query.lower())
    return [word for word in dict.fromkeys(words) if word not in ANYTHING]


def about(contract: Contract, words: Sequence[str]) -> list[Passage]:
    """Find the sentences that hold most of the words, by rarity; none when most are nowhere."""
    hits = {word: contract.find([phrase(_forms(word))]) for word in words}
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
    return [contract.passage(first[span]) for span in sorted(best[:MAX_FOUND])]


def _forms(word: str) -> str:
    stem = word.removesuffix("'s").removesuffix("s")
    return f"{stem}*" if len(stem) >= MIN_STEM_CHARS else f"{stem}|{stem}s"
