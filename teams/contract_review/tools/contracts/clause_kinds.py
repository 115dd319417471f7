"""The kinds of clauses that a review looks for first, and how clauses of a kind are found."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from nodes.limits.patterns import Pattern

from .clauses import Clause
from .contract import Contract, PhraseHit
from .phrases import PhraseMatch, Phrases

_FILE = Path(__file__).resolve().parents[2] / "clause_kinds.yaml"


class ClauseKind(BaseModel):
    """A kind of clause."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    headings: Phrases
    any: Phrases
    unless: Phrases = ()

    def is_named_in(self, heading: str) -> bool:
        """Return whether a heading names this kind."""
        return any(any(each.find_matches(heading.lower())) for each in self.headings)


@cache
def load_clause_kinds() -> dict[str, ClauseKind]:
    """Return the kinds by name, the most important first."""
    kinds = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return {name: ClauseKind.model_validate(kind) for name, kind in kinds.items()}


if TYPE_CHECKING:
    ClauseKindName = str
else:
    ClauseKindName = Literal[tuple(load_clause_kinds())]


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
