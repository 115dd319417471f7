"""Finds claims of different reports with the same subject and different figures."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from nodes.limits.patterns import Pattern
from nodes.schemas.replies import ClaimVerdict
from nodes.text.dates import Period
from nodes.text.figures import Quantity, read_figures, write_digits
from nodes.text.phrases import DEFAULT_LANGUAGE, PHRASES, say
from nodes.text.terms import (
    STEM_CHARS,
    extract_names,
    extract_terms,
    extract_words,
    measure_overlap,
)
from nodes.text.units import ABOUT, CURRENCIES, SCALES, UNITS
from nodes.text.word_lists import FUNCTION_WORDS
from state import Claim, Contradiction, Report

MIN_OVERLAP = 0.75
"""Minimum share of the shorter claim's terms in both claims for the same subject."""
MIN_SHARED = 2
MAX_PAIRS = 20
"""Limit for one call of the judge."""
MAX_CLAIMS = 600
"""Limit for the claims that are compared; the rest are ignored."""
UNDECIDED = tuple(phrases["undecided"] for phrases in PHRASES.values())
"""Beginnings of the verdicts that decide nothing."""

_CELL = Pattern(r"(?P<column>[^:;]{1,80}): (?P<value>[^;]{1,400})")
_WHOLE = Pattern(r"\d{1,15}")
_REFERENCE = Pattern(
    r"\b(?:clause|section|article|paragraph|page|line|exhibit|schedule|annex)s?\s+\d[\w.()]*",
    re.IGNORECASE,
)
"""A reference such as clause 4.2(a): a number that measures nothing."""
_MEASURES = {word for word, (dimension, _) in UNITS.items() if dimension in ("%", *CURRENCIES)}
_MEASURE_STEMS = frozenset(
    word[:STEM_CHARS] for word in {*SCALES, *_MEASURES, *ABOUT.split("|")} if word.isalpha()
)


@dataclass(frozen=True)
class ClaimPair:
    """Two claims that may contradict each other."""

    first: Claim
    second: Claim
    tasks: tuple[str, str]
    subject: str = ""
    """As the synthesizer names it; empty for a pair found by rule."""
    first_verdict: str = ""
    """Of the synthesizer, which stays where no judge decides."""

    def name_subject(self) -> str:
        """Return the subject of both claims: as it was named, or the terms they share."""
        if self.subject:
            return self.subject
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
    periods: Sequence[Period]
    figures: Mapping[str, Sequence[Quantity]]
    """By unit, or by the word after each."""
    column: frozenset[str] = frozenset()
    """The words of the column that the figure is from; empty for a sentence."""


def find_contradicting_pairs(reports: Iterable[Report]) -> tuple[ClaimPair, ...]:
    """Return the pairs of claims that disagree; each pair of texts once, in the reports' order."""
    statements = [each for report in reports for each in _extract_statements(report)][:MAX_CLAIMS]
    pairs: dict[tuple[str, str], ClaimPair] = {}
    for one, other in combinations(statements, 2):
        if _disagree(one, other):
            pair = ClaimPair(one.claim, other.claim, (one.task, other.task))
            pairs.setdefault((one.claim.text, other.claim.text), pair)
    return tuple(pairs.values())[:MAX_PAIRS]


def record_verdicts(
    pairs: Sequence[ClaimPair],
    rulings: Mapping[int, ClaimVerdict],
    why: str,
    language: str = DEFAULT_LANGUAGE,
) -> list[Contradiction]:
    """Return each pair with its verdict; `why` is the reason for missing ones.

    A pair without a ruling keeps the synthesizer's verdict, if there is one. A pair of claims that
    both hold is not a contradiction.
    """
    no_reason = say(language, "no_reason")
    recorded = []
    for number, pair in enumerate(pairs, start=1):
        ruling = rulings.get(number)
        if ruling is None and pair.first_verdict:
            verdict = pair.first_verdict
        elif ruling is None or ruling.holds == "undecided":
            reason = (ruling.reason if ruling else "") or why or no_reason
            verdict = f"{say(language, 'undecided')}: {reason}"
        elif ruling.holds == "both":
            continue
        else:
            side = _name_prevailing_side(pair, ruling, language)
            verdict = f"{side}: {ruling.reason or no_reason}"
        claims = (pair.first, pair.second)
        recorded.append(Contradiction(subject=pair.name_subject(), claims=claims, verdict=verdict))
    return recorded


def count_undecided(contradictions: Iterable[Contradiction]) -> int:
    """Return the number of undecided contradictions."""
    return sum(each.verdict.startswith(UNDECIDED) for each in contradictions)


def find_named_pairs(
    known: Sequence[Contradiction], named: Iterable[Contradiction], reports: Iterable[Report]
) -> tuple[ClaimPair, ...]:
    """Return the pairs of claims that the synthesizer named as contradictions, each once.

    Pairs that are known, and claims that are in no report, are left out. The first claim of a
    contradiction is compared with each other one of it.
    """
    claims_by_text = {
        _normalize_text(claim.text): (report.task, claim)
        for report in reports
        for claim in report.claims
    }
    seen = {frozenset(_normalize_text(claim.text) for claim in each.claims) for each in known}
    pairs = []
    for each in named:
        texts = dict.fromkeys(_normalize_text(claim.text) for claim in each.claims)
        first, *others = [text for text in texts if text in claims_by_text] or [""]
        for other in others:
            if frozenset((first, other)) in seen:
                continue
            seen.add(frozenset((first, other)))
            (task, claim), (other_task, other_claim) = claims_by_text[first], claims_by_text[other]
            tasks = (task, other_task)
            pairs.append(ClaimPair(claim, other_claim, tasks, each.subject, each.verdict))
    return tuple(pairs)[:MAX_PAIRS]


def _name_prevailing_side(pair: ClaimPair, ruling: ClaimVerdict, language: str) -> str:
    if ruling.holds == "neither":
        return say(language, "neither_holds")
    claim, task = (
        (pair.first, pair.tasks[0]) if ruling.holds == "first" else (pair.second, pair.tasks[1])
    )
    key = "first_holds" if ruling.holds == "first" else "second_holds"
    return say(language, key, source=claim.source or task)


def _normalize_text(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _extract_statements(report: Report) -> Iterator[_ComparableClaim]:
    """Yield a claim with its figures; of a row, one for each figure.

    The subject and the period of a cell are in the other cells, and its column.
    """
    for claim in report.claims:
        cells = _split_row(claim.text)
        named = " ".join(f"{name} {value}" for name, value in cells if not _sort_figures(value))
        for column, value in cells or [("", claim.text)]:
            if figures := _sort_figures(value):
                subject = named if cells else value
                text = f"{subject} {column}".rstrip()
                yield _ComparableClaim(
                    report.task,
                    claim,
                    extract_terms(text) - _MEASURE_STEMS,
                    extract_names(subject),
                    read_figures(text.replace("_", " ")).periods,
                    figures,
                    extract_words(column.replace("_", " ")),
                )


def _sort_figures(text: str) -> dict[str, list[Quantity]]:
    """Return the figures of a text by what they measure, without references."""
    bare = write_digits(_REFERENCE.sub("_", text))
    found = dict[str, list[Quantity]]()
    for quantity in read_figures(bare).numbers:
        after = bare[quantity.start :].partition(quantity.text)[2].split(maxsplit=1)
        word = after[0].strip(".,;:()").lower() if after else ""
        noun = "" if word in FUNCTION_WORDS else word.rstrip("s")
        found.setdefault(quantity.unit or noun, []).append(quantity)
        for part in _WHOLE.findall(quantity.text) if quantity.is_ratio else ():  # 34 in 233
            counted = Quantity(part, (float(part),), tolerance=0.5)
            found.setdefault("", []).append(counted)
    return found


def _split_row(text: str) -> list[tuple[str, str]]:
    """Return the columns and values of a row, as in `shop: Altona; visitors: 4100`; else none."""
    cells = [_CELL.fullmatch(part) for part in text.split("; ")]
    found = [(cell["column"], cell["value"]) for cell in cells if cell]
    return found if len(found) == len(cells) > 1 else []


def _disagree(one: _ComparableClaim, other: _ComparableClaim) -> bool:
    if one.task == other.task and _strip_fragment(one.claim) == _strip_fragment(other.claim):
        return False
    if one.periods and other.periods and not _share_period(one.periods, other.periods):
        return False
    # Not revenue and its ratio, nor one year and all.
    is_same_measure = one.column == other.column and bool(one.periods) == bool(other.periods)
    if one.column and other.column and not is_same_measure:
        return False
    # A passage of several lines is of more than the row says.
    if bool(one.column) != bool(other.column) and "\n" in one.claim.text + other.claim.text:
        return False
    # One word in both, such as "count", is no subject.
    if len(one.terms & other.terms) < MIN_SHARED and one.terms != other.terms:
        return False
    if measure_overlap(one.terms, other.terms) < MIN_OVERLAP:
        return False
    # Each names something that the other does not: different parts, companies or products.
    if one.names - other.terms - other.names and other.names - one.terms - one.names:
        return False
    return _have_different_figures(one.figures, other.figures)


def _share_period(ours: Sequence[Period], theirs: Sequence[Period]) -> bool:
    """Return whether two sets of periods overlap; a year includes its days."""
    return any(a.is_within((b,)) or b.is_within((a,)) for a in ours for b in theirs)


def _strip_fragment(claim: Claim) -> str:
    """Return a source without its fragment, the part after a `#`."""
    return claim.source.partition("#")[0]


def _have_different_figures(
    ours: Mapping[str, Sequence[Quantity]], theirs: Mapping[str, Sequence[Quantity]]
) -> bool:
    pairs = [
        (one, other)
        for unit, figures in ours.items()
        for one in figures
        for other in theirs.get(unit, ())
    ]
    return bool(pairs) and not any(one.equals(other) or other.equals(one) for one, other in pairs)
