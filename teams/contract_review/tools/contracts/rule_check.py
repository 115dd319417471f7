"""Check a contract against a playbook: each term is stated, missing, found, or beyond its limit."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from .clause_kinds import load_clause_kinds
from .clauses import SIGNATURES
from .contract import Contract, PhraseHit
from .kind_search import find_kind
from .phrases import PhraseMatch
from .playbook import Playbook, PlaybookRule, Severity, parse_limit
from .quantities import Quantity, find_quantities

RuleState = Literal["stated", "missing", "found", "absent", "within", "over", "under", "silent"]
BREACH_STATES: Final[tuple[RuleState, ...]] = ("missing", "found", "over", "under")
MISMATCH_RULE_ID: Final = "number_mismatch"
_SEVERITY_RANK = {severity: rank for rank, severity in enumerate(get_args(Severity))}


@dataclass(frozen=True)
class RuleResult:
    """The result of one rule, and where its wording is."""

    rule: PlaybookRule
    state: RuleState
    hits: tuple[PhraseHit, ...] = ()

    @property
    def is_breach(self) -> bool:
        """Return whether it is a finding."""
        return self.state in BREACH_STATES


def check_rules(contract: Contract, playbook: Playbook) -> list[RuleResult]:
    """Check every rule; breaches come first, the most severe before the others."""
    found = [_check_rule(contract, rule) for rule in playbook.rules]
    if playbook.number_mismatch != "off" and (wrong := tuple(_find_number_mismatches(contract))):
        found.append(RuleResult(_build_mismatch_rule(playbook.number_mismatch), "found", wrong))
    return sorted(found, key=lambda each: (not each.is_breach, _SEVERITY_RANK[each.rule.severity]))


def _check_rule(contract: Contract, rule: PlaybookRule) -> RuleResult:
    hits = find_kind(contract, load_clause_kinds()[rule.clause]) if rule.clause else []
    hits = _drop_repeated_hits([*hits, *contract.find_phrases(rule.any, rule.unless)])
    if rule.kind == "required":
        return RuleResult(rule, "stated" if hits else "missing", _drop_bare_headings(hits))
    if rule.kind == "forbidden":
        return RuleResult(rule, "found" if hits else "absent", _drop_bare_headings(hits))
    return _check_limits(rule, [(hit, hit.match.quantity) for hit in hits if hit.match.quantity])


def _check_limits(rule: PlaybookRule, hits: Sequence[tuple[PhraseHit, Quantity]]) -> RuleResult:
    comparable = list[PhraseHit]()
    limits: dict[RuleState, str | None] = {"over": rule.max, "under": rule.min}
    for state, limit in limits.items():
        if limit is None:
            continue
        bound, sign = parse_limit(limit), 1 if state == "over" else -1
        known = [(hit, quantity) for hit, quantity in hits if quantity.unit == bound.unit]
        if beyond := [hit for hit, each in known if sign * (each.value - bound.value) > 0]:
            return RuleResult(rule, state, tuple(beyond))
        comparable += [hit for hit, _ in known]
    return RuleResult(rule, "within" if comparable else "silent", tuple(comparable))


def _drop_repeated_hits(hits: Iterable[PhraseHit]) -> list[PhraseHit]:
    first: dict[tuple[tuple[int, int], Quantity | None], PhraseHit] = {}
    for hit in hits:
        first.setdefault((hit.sentence, hit.match.quantity), hit)
    return list(first.values())


def _drop_bare_headings(hits: Sequence[PhraseHit]) -> tuple[PhraseHit, ...]:
    """Remove bare headings, unless there is nothing else."""
    return tuple(hit for hit in hits if not hit.is_bare_heading) or tuple(hits)


def _find_number_mismatches(contract: Contract) -> Iterator[PhraseHit]:
    for quantity in find_quantities(contract.text.lowercase):
        clause = contract.find_clause(quantity.start)
        if quantity.is_contradictory and clause.number != SIGNATURES:
            yield contract.build_hit(PhraseMatch(quantity.start, quantity.end, quantity))


def _build_mismatch_rule(severity: str) -> PlaybookRule:
    return PlaybookRule.model_validate(
        {
            "id": MISMATCH_RULE_ID,
            "title": "Number whose words and figures differ",
            "kind": "forbidden",
            "severity": severity,
            "likelihood": 4,
            "any": ["number"],
            "why": "Which of the two counts is open; courts often follow the words.",
            "remedy": "Have the number put right before anyone signs.",
        }
    )
