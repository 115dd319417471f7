"""Report a contract's facts: parties, date, governing law, sums of money."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .contract import Contract, ContractPassage, PhraseHit
from .facts import (
    find_agreement_date,
    find_governing_law,
    find_sums,
    find_title,
)
from .parties import Party, find_parties
from .phrases import PhraseMatch

MAX_SUMS = 5


@dataclass(frozen=True)
class StatedFact:
    """A fact or a clause that was found: its wording in the report, and its place."""

    label: str
    value: str
    text: str
    passage: ContractPassage


def choose_name(contract: Contract) -> str:
    """Return the contract's title, else the name of its file."""
    return find_title(contract) or contract.name


def collect_facts(contract: Contract) -> tuple[list[StatedFact], list[str]]:
    """Return the facts, and which of them were not found."""
    between = find_parties(contract)
    name = choose_name(contract)
    called = f"{name} between {' and '.join(p.name for p in between)}" if between else name
    facts, gaps = [], list[str]()
    if between:
        facts.append(
            StatedFact(
                "Parties",
                _format_parties(between),
                called,
                _build_parties_passage(contract, between),
            )
        )
        blank = [party for party in between if not any(map(str.isalpha, party.name))]
        gaps += [
            f"{contract.name}: the name of the {p.role or 'party'} is left blank" for p in blank
        ]
    else:
        gaps.append(f"{contract.name}: who the parties are could not be read from its opening")
    if dated := find_agreement_date(contract):
        day, passage = dated
        value = day.isoformat() if day else "left blank"
        text = f"{called}: dated {value}" if day else f"{called}: its date is left blank"
        facts.append(StatedFact("Date", value, text, _widen_to_sentence(contract, passage)))
        gaps += [] if day else [f"{contract.name}: its date is left blank"]
    if governing := find_governing_law(contract):
        text = f"{name}: governed by the law of {governing[0]}"
        facts.append(StatedFact("Governing law", governing[0], text, governing[1]))
    facts += _collect_sums(contract, name)
    if any(clause.number.startswith("¶") for clause in contract.clauses):
        gaps.append(f"{contract.name} has no clause numbers: its parts are counted ¶1, ¶2, …")
    return facts, gaps


def _collect_sums(contract: Contract, name: str) -> Iterator[StatedFact]:
    known: set[str] = set()
    for passage in find_sums(contract):
        shown = contract.text.format_on_one_line(passage.start, passage.end)
        if shown not in known and len(known) < MAX_SUMS:
            known.add(shown)
            text = f"Sum of money: {passage.clause.name} of the {name}"
            yield StatedFact("Sum", shown, text, _widen_to_sentence(contract, passage))


def _widen_to_sentence(contract: Contract, passage: ContractPassage) -> ContractPassage:
    """Widen a passage to its sentence, or to the part of it that may be quoted."""
    return contract.build_passage(contract.build_hit(PhraseMatch(passage.start, passage.end)))


def _build_parties_passage(contract: Contract, between: Sequence[Party]) -> ContractPassage:
    clause = contract.find_clause(between[0].start)
    match = PhraseMatch(between[0].start, between[-1].end)
    return contract.build_passage(PhraseHit(clause, (match.start, match.end), match))


def _format_parties(between: Sequence[Party]) -> str:
    return "; ".join(f"{p.name} ({p.role})" if p.role else p.name for p in between)
