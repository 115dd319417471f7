"""Claims of different reports that name the same subject and give different figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from nodes.synthesis.figures import (
    APPROXIMATION_WORDS,
    CURRENCIES,
    MAGNITUDES,
    PERCENT_WORDS,
    Figure,
    extract_figures,
    extract_periods,
)
from nodes.text.terms import STEM_CHARS, extract_names, extract_terms, measure_overlap
from state import Claim, ClaimVerdict, Contradiction, Report

MIN_OVERLAP = 0.75
"""Share of the shorter claim's terms that both have, from which the subject is the same."""
MIN_SHARED = 2
MAX_PAIRS = 20
"""Shown to the judge in one call."""
MAX_CLAIMS = 600
"""Compared with each other; claims beyond are not."""
UNDECIDED = "cannot decide"

_MEASURE_STEMS = frozenset(
    word[:STEM_CHARS]
    for word in {*MAGNITUDES, *CURRENCIES, *PERCENT_WORDS, *APPROXIMATION_WORDS}
    if word.isalpha()
)


@dataclass(frozen=True)
class ClaimPair:
    """Two claims that may contradict each other."""

    first: Claim
    second: Claim
    tasks: tuple[str, str]

    def name_subject(self) -> str:
        """Name what both claims speak of, by the terms they share."""
        shared = extract_terms(self.first.text) & extract_terms(self.second.text)
        words = [word.strip(".,;:()") for word in self.first.text.split()]
        kept = [word for word in words if word.casefold()[:STEM_CHARS] in shared - _MEASURE_STEMS]
        return " ".join(dict.fromkeys(kept)) or self.first.text


@dataclass(frozen=True)
class _ComparableClaim:
    task: str
    claim: Claim
    terms: frozenset[str]
    names: frozenset[str]
    periods: frozenset[str]
    figures: tuple[Figure, ...]


def find_contradicting_pairs(reports: Iterable[Report]) -> tuple[ClaimPair, ...]:
    """Find the pairs of claims that disagree; each pair of texts once, in the reports' order."""
    stated = [statement for report in reports for statement in _extract_statements(report)][
        :MAX_CLAIMS
    ]
    found: dict[tuple[str, str], ClaimPair] = {}
    for one, other in combinations(stated, 2):
        if _disagree(one, other):
            pair = ClaimPair(one.claim, other.claim, (one.task, other.task))
            found.setdefault((one.claim.text, other.claim.text), pair)
    return tuple(found.values())[:MAX_PAIRS]


def record_verdicts(
    pairs: Sequence[ClaimPair], rulings: Mapping[int, ClaimVerdict], why: str
) -> list[Contradiction]:
    """Record each pair with its ruling; `why` says what kept the judge from ruling.

    A pair of which both claims hold is no contradiction.
    """
    recorded = []
    for number, pair in enumerate(pairs, start=1):
        ruling = rulings.get(number)
        if ruling is None or ruling.holds == "undecided":
            reason = (ruling.reason if ruling else "") or why or "the judge gave no reason"
            verdict = f"{UNDECIDED}: {reason}"
        elif ruling.holds == "both":
            continue
        else:
            verdict = (
                f"{_name_prevailing_side(pair, ruling)}: "
                f"{ruling.reason or 'the judge gave no reason'}"
            )
        claims = (pair.first, pair.second)
        recorded.append(Contradiction(subject=pair.name_subject(), claims=claims, verdict=verdict))
    return recorded


def count_undecided(contradictions: Iterable[Contradiction]) -> int:
    """Count the contradictions that are left open."""
    return sum(each.verdict.startswith(UNDECIDED) for each in contradictions)


def add_synthesizer_contradictions(
    known: Sequence[Contradiction], told: Iterable[Contradiction], reports: Iterable[Report]
) -> tuple[Contradiction, ...]:
    """Add those the synthesizer has seen itself, if the reports hold all their claims."""
    held = {_normalize_text(claim.text): claim for report in reports for claim in report.claims}
    seen = {frozenset(_normalize_text(claim.text) for claim in each.claims) for each in known}
    added = []
    for each in told:
        keys = frozenset(_normalize_text(claim.text) for claim in each.claims)
        if len(keys) > 1 and keys <= held.keys() and keys not in seen:
            seen.add(keys)
            claims = tuple(held[_normalize_text(claim.text)] for claim in each.claims)
            verdict = each.verdict or f"{UNDECIDED}: the synthesizer named no reason"
            added.append(each.model_copy(update={"claims": claims, "verdict": verdict}))
    return (*known, *added)


def _name_prevailing_side(pair: ClaimPair, ruling: ClaimVerdict) -> str:
    if ruling.holds == "neither":
        return "neither holds"
    claim, task = (
        (pair.first, pair.tasks[0]) if ruling.holds == "first" else (pair.second, pair.tasks[1])
    )
    return f"the {ruling.holds} holds ({claim.source or task})"


def _normalize_text(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _extract_statements(report: Report) -> Iterable[_ComparableClaim]:
    for claim in report.claims:
        if found := extract_figures(claim.text):
            subject = extract_terms(claim.text) - _MEASURE_STEMS
            yield _ComparableClaim(
                report.task,
                claim,
                subject,
                extract_names(claim.text),
                extract_periods(claim.text),
                found,
            )


def _disagree(one: _ComparableClaim, other: _ComparableClaim) -> bool:
    if one.task == other.task and _strip_fragment(one.claim) == _strip_fragment(other.claim):
        return False
    if one.periods and other.periods and not _share_period(one.periods, other.periods):
        return False
    if len(one.terms & other.terms) < min(MIN_SHARED, len(one.terms), len(other.terms)):
        return False
    if measure_overlap(one.terms, other.terms) < MIN_OVERLAP:
        return False
    # Each names something that the other does not: two parts, two firms, two products.
    if one.names - other.terms - other.names and other.names - one.terms - one.names:
        return False
    return _have_different_figures(one.figures, other.figures)


def _share_period(ours: Iterable[str], theirs: Iterable[str]) -> bool:
    """Return whether two sets of periods have one in common; a year holds its days."""
    return any(a.startswith(b) or b.startswith(a) for a in ours for b in theirs)


def _strip_fragment(claim: Claim) -> str:
    """Return a source without the place in it that it may name after a `#`."""
    return claim.source.partition("#")[0]


def _have_different_figures(ours: Sequence[Figure], theirs: Sequence[Figure]) -> bool:
    pairs = [(one, other) for one in ours for other in theirs if one.unit == other.unit]
    return bool(pairs) and not any(one.agrees(other) for one, other in pairs)
