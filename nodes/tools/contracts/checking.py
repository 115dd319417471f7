"""A contract held against a playbook: each term stated, missing, found, or beyond its limit."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from nodes.tools.contracts.clauses import SIGNATURES
from nodes.tools.contracts.contract import Contract, Hit
from nodes.tools.contracts.phrases import Match
from nodes.tools.contracts.playbook import Playbook, Rule, limit
from nodes.tools.contracts.quantities import Quantity, quantities
from nodes.tools.contracts.severity import Severity

State = Literal["stated", "missing", "found", "absent", "within", "beyond", "silent"]
BREACHES: Final[tuple[State, ...]] = ("missing", "found", "beyond")
MISMATCH: Final = "number_mismatch"
_RANK = {severity: rank for rank, severity in enumerate(get_args(Severity))}


@dataclass(frozen=True)
class Verdict:
    """What came of one rule, and where its wording stands."""

    rule: Rule
    state: State
    hits: tuple[Hit, ...] = ()

    @property
    def is_breach(self) -> bool:
        """Say whether it is a finding."""
        return self.state in BREACHES


def verdicts(contract: Contract, playbook: Playbook) -> list[Verdict]:
    """Check every rule; breaches come first, the gravest before the others."""
    found = [_verdict(contract, rule) for rule in playbook.rules]
    if playbook.number_mismatch != "off" and (wrong := tuple(_mismatches(contract))):
        found.append(Verdict(_mismatch_rule(playbook.number_mismatch), "found", wrong))
    return sorted(found, key=lambda each: (not each.is_breach, _RANK[each.rule.severity]))


def _verdict(contract: Contract, rule: Rule) -> Verdict:
    hits = _distinct(contract.find(rule.phrases, rule.exceptions))
    if rule.kind == "required":
        return Verdict(rule, "stated" if hits else "missing", _telling(hits))
    if rule.kind == "forbidden":
        return Verdict(rule, "found" if hits else "absent", _telling(hits))
    hits = [hit for hit in hits if _is_of_the_unit(rule, hit.match.quantity)]
    if beyond := [hit for hit in hits if not _fits(rule, hit.match.quantity)]:
        return Verdict(rule, "beyond", tuple(beyond))
    return Verdict(rule, "within" if hits else "silent", tuple(hits))


def _distinct(hits: Iterable[Hit]) -> list[Hit]:
    first: dict[tuple[tuple[int, int], Quantity | None], Hit] = {}
    for hit in hits:
        first.setdefault((hit.sentence, hit.match.quantity), hit)
    return list(first.values())


def _telling(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Leave out bare headings, unless there is nothing else."""
    return tuple(hit for hit in hits if not hit.is_bare_heading) or tuple(hits)


def _is_of_the_unit(rule: Rule, quantity: Quantity | None) -> bool:
    bound = limit(rule.max or rule.min or "")
    return quantity is not None and quantity.unit == bound.unit


def _fits(rule: Rule, quantity: Quantity | None) -> bool:
    assert quantity is not None, "hits without one were left out"
    above = rule.max is not None and quantity.value > limit(rule.max).value
    below = rule.min is not None and quantity.value < limit(rule.min).value
    return not (above or below)


def _mismatches(contract: Contract) -> Iterator[Hit]:
    for quantity in quantities(contract.reading.low):
        clause = contract.clause_at(quantity.start)
        if quantity.is_contradictory and clause.number != SIGNATURES:
            yield contract.hit(Match(quantity.start, quantity.end, quantity))


def _mismatch_rule(severity: str) -> Rule:
    return Rule.model_validate(
        {
            "id": MISMATCH,
            "title": "Number whose words and figures differ",
            "kind": "forbidden",
            "severity": severity,
            "likelihood": 4,
            "any": ["number"],
            "why": "Which of the two counts is open; courts often follow the words.",
            "remedy": "Have the number put right before anyone signs.",
        }
    )
