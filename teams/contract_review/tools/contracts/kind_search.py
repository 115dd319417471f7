"""Find the clauses of a kind: those under its headings first, then those with its wording."""

from collections import Counter
from collections.abc import Sequence

from nodes.limits.patterns import Pattern

from .clause_kinds import ClauseKind, load_clause_kinds
from .clauses import Clause
from .contract import Contract, PhraseHit
from .phrases import PhraseMatch

_DEFINES = Pattern(
    r"\b(?:(?:shall|will) mean|ha(?:s|ve) the meaning"
    r"|means? (?:the|an?|any|all|each|that|those|with|such|either|collectively)\b)"
)
MAX_DEFINED_CHARS = 160
"""Beginning of a sentence in which a defined term is."""


def find_kind(contract: Contract, kind: ClauseKind) -> list[PhraseHit]:
    """Return a hit for each sentence of a kind, and for each other clause that its heading names.

    Words that explain a defined term agree on nothing, unless it has the name of the kind.
    """
    hits = [
        hit
        for hit in contract.find_phrases(kind.any, kind.unless)
        if not (hit.is_bare_heading or _is_explanation(contract, kind, hit))
    ]
    counts = Counter(hit.sentence for hit in hits)
    headed = [c for c in contract.clauses if c.heading and kind.is_named_in(c.heading)]
    first = {hit.sentence: hit for hit in reversed(hits)}
    found = sorted(
        first.values(),
        key=lambda hit: (not _is_under(hit.clause, headed), -counts[hit.sentence], hit.match.start),
    )
    others = [other for other in load_clause_kinds().values() if other is not kind]
    for clause in headed:
        is_found = any(_is_under(hit.clause, [clause]) for hit in found)
        text = contract.text.clean[clause.body_start : clause.whole_end].strip()
        if text and not is_found and not any(each.is_named_in(clause.heading) for each in others):
            found.append(_build_whole_hit(clause))
    return found


def _build_whole_hit(clause: Clause) -> PhraseHit:
    span = (clause.text_start, clause.whole_end)
    return PhraseHit(clause, span, PhraseMatch(clause.text_start, clause.text_start))


def _is_explanation(contract: Contract, kind: ClauseKind, hit: PhraseHit) -> bool:
    """Return whether a hit is in the explanation of a term, unless the kind has the term's name."""
    start = hit.sentence[0]
    end = min(hit.match.start, start + MAX_DEFINED_CHARS)
    defined = _DEFINES.search(contract.text.lowercase, start, end)
    return defined is not None and not kind.is_named_in(
        contract.text.lowercase[start : defined.start()]
    )


def _is_under(clause: Clause, headed: Sequence[Clause]) -> bool:
    return any(each.start <= clause.start < each.whole_end for each in headed)
