"""A contract's facts as they are told: parties, date, governing law, sums of money."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes.tools.contracts.contract import Contract, Hit, Passage
from nodes.tools.contracts.facts import agreement_date, law, sums, title
from nodes.tools.contracts.parties import Party, parties
from nodes.tools.contracts.phrases import Match

MAX_SUMS = 5


@dataclass(frozen=True)
class Stated:
    """A fact or a clause found: how it is told, and where it stands."""

    label: str
    value: str
    text: str
    passage: Passage


def name_of(contract: Contract) -> str:
    """Give the contract's title, or else the name of its file."""
    return title(contract) or contract.name


def stated_facts(contract: Contract) -> tuple[list[Stated], list[str]]:
    """Give the facts, and what could not be found of them."""
    between = parties(contract)
    name = name_of(contract)
    called = f"{name} between {' and '.join(p.name for p in between)}" if between else name
    facts, gaps = [], list[str]()
    if between:
        facts.append(Stated("Parties", _listed(between), called, _span(contract, between)))
        blank = [party for party in between if not any(map(str.isalpha, party.name))]
        gaps += [
            f"{contract.name}: the name of the {p.role or 'party'} is left blank" for p in blank
        ]
    else:
        gaps.append(f"{contract.name}: who the parties are could not be read from its opening")
    if dated := agreement_date(contract):
        day, passage = dated
        value = day.isoformat() if day else "left blank"
        text = f"{called}: dated {value}" if day else f"{called}: its date is left blank"
        facts.append(Stated("Date", value, text, _around(contract, passage)))
        gaps += [] if day else [f"{contract.name}: its date is left blank"]
    if governing := law(contract):
        text = f"{name}: governed by the law of {governing[0]}"
        facts.append(Stated("Governing law", governing[0], text, governing[1]))
    facts += _sums(contract, name)
    if any(clause.number.startswith("¶") for clause in contract.clauses):
        gaps.append(f"{contract.name} has no clause numbers: its parts are counted ¶1, ¶2, …")
    return facts, gaps


def _sums(contract: Contract, name: str) -> Iterator[Stated]:
    known: set[str] = set()
    for passage in sums(contract):
        shown = contract.reading.shown(passage.start, passage.end)
        if shown not in known and len(known) < MAX_SUMS:
            known.add(shown)
            text = f"Sum of money: {passage.clause.name} of the {name}"
            yield Stated("Sum", shown, text, _around(contract, passage))


def _around(contract: Contract, passage: Passage) -> Passage:
    """Widen a passage to its sentence, or to what of it may be quoted."""
    return contract.passage(contract.hit(Match(passage.start, passage.end)))


def _span(contract: Contract, between: Sequence[Party]) -> Passage:
    clause = contract.clause_at(between[0].start)
    match = Match(between[0].start, between[-1].end)
    return contract.passage(Hit(clause, (match.start, match.end), match))


def _listed(between: Sequence[Party]) -> str:
    return "; ".join(f"{p.name} ({p.role})" if p.role else p.name for p in between)
