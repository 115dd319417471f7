"""Extract and quote a contract's parties, dates, law, sums and the clauses a review needs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nodes.errors import ToolRefused
from nodes.text.plain_text import sanitize_line
from nodes.text.word_lists import UNSPECIFIC_WORDS
from nodes.tools.documents.index import PassageIndex
from nodes.tools.documents.passages import Passage
from nodes.tools.framework.tool_report import ToolReport

from .clause_kinds import ClauseKind, load_clause_kinds
from .clauses import PREAMBLE, SIGNATURES, Clause, find_clauses
from .contract import MAX_QUOTE_CHARS, Contract, ContractPassage
from .facts import find_agreement_date, find_governing_law, find_sums, name_contract
from .parties import find_parties
from .phrases import PhraseMatch
from .reading import (
    MAX_SHOWN_CHARS,
    add_quotation,
    fit_claims,
    format_place,
    format_quotation,
    list_reading_gaps,
    read_contract,
)

MAX_PASSAGES_PER_KIND, MAX_PASSAGES_PER_ASKED_KIND = 2, 6
MAX_SUMS = 5
MAX_WHOLE_CLAUSE_CHARS = 12_000
MAX_SEARCH_RESULTS = 3
_FACT_LABELS = ("Party", "Date", "Governing law", "Sum")


@dataclass(frozen=True)
class Excerpt:
    """A fact or a clause that was found, and its place."""

    label: str
    value: str
    """What a fact is; empty for a clause."""
    passage: ContractPassage


def extract(name: str, text: str, kinds: Sequence[str], query: str, clause: str) -> dict[str, Any]:
    """Return a contract's facts and its clauses of some kinds, of all kinds, or one by number.

    Raises:
        ToolRefused: the text is no contract, or has no such clause.
    """
    contract = read_contract(name, text)
    if clause:
        return _quote_whole_clauses(contract, clause)
    known = load_clause_kinds()
    most = MAX_PASSAGES_PER_ASKED_KIND if kinds else MAX_PASSAGES_PER_KIND
    found = [
        Excerpt(known[kind].title, "", passage)
        for kind in kinds or known
        for passage in _find_kind(contract, known[kind])[:most]
    ]
    labels = {each.label for each in found}
    missing = [kind for kind in kinds or known if known[kind].title not in labels]
    found[:0] = [Excerpt("Words searched", "", each) for each in _search(contract, query)]
    facts = list(_list_facts(contract))
    chars = MAX_QUOTE_CHARS if kinds else MAX_SHOWN_CHARS
    told = fit_claims(partial(_build_report, contract, facts, found, missing, chars))
    values: dict[str, list[str]] = {label: [] for label in _FACT_LABELS}
    for fact in facts:
        values[fact.label].append(fact.value)
    return {**told, "facts": values, "not_found": missing}


def _build_report(
    contract: Contract,
    facts: Sequence[Excerpt],
    found: Sequence[Excerpt],
    missing: Sequence[str],
    max_chars: int,
    most: int,
) -> ToolReport:
    report, name = ToolReport(), name_contract(contract)
    whole = [c for c in contract.clauses if c.level == 0 and c.number not in (PREAMBLE, SIGNATURES)]
    rows = [("Document", f"{name} ({contract.name}): {len(whole)} clauses", "")]
    rows += [(each.label, each.value, format_place(contract, each.passage)) for each in facts]
    report.add_table(("", "what it says", "where"), rows)
    for each in facts:
        add_quotation(report, contract, f"{name}: {each.label} {each.value}", each.passage)
    for each in found[:most]:
        place, words = format_place(contract, each.passage), each.passage
        report.lines.append(
            f"- **{each.label}** {place}: {format_quotation(contract, words, max_chars)}"
        )
        add_quotation(report, contract, f"{name}: {each.label}", each.passage)
    if missing:
        report.lines.append(f"- **Not found:** {', '.join(missing).replace('_', ' ')}")
    report.gaps += _list_gaps(contract, facts)
    if len(found) > most:
        report.gaps.append(f"{contract.name}: {len(found) - most} more clauses; ask by kind")
    return report


def _list_gaps(contract: Contract, facts: Sequence[Excerpt]) -> list[str]:
    gaps = list_reading_gaps(contract)
    parties = [each.value for each in facts if each.label == "Party"]
    if not parties:
        gaps.append(f"{contract.name}: who the parties are could not be read from its opening")
    gaps += [f"{contract.name}: a party is left blank" for each in parties if each[0] in "[_"]
    if any(each.label == "Date" and each.value == "left blank" for each in facts):
        gaps.append(f"{contract.name}: its date is left blank")
    if any(clause.number.startswith("¶") for clause in contract.clauses):
        gaps.append(f"{contract.name} has no clause numbers: its parts are counted ¶1, ¶2, …")
    return gaps


def _list_facts(contract: Contract) -> Iterator[Excerpt]:
    for party in find_parties(contract):
        shown = f"{party.name} ({party.role})" if party.role else party.name
        clause = contract.find_clause(party.start)
        yield Excerpt("Party", shown, ContractPassage(clause, party.start, party.end))
    if dated := find_agreement_date(contract):
        value = dated[0].isoformat() if dated[0] else "left blank"
        yield Excerpt("Date", value, _quote_around(contract, dated[1].start))
    if governing := find_governing_law(contract):
        yield Excerpt("Governing law", *governing)
    sums: dict[str, ContractPassage] = {}
    for passage in find_sums(contract):
        sums.setdefault(contract.text.format_on_one_line(passage.start, passage.end), passage)
    for shown, passage in list(sums.items())[:MAX_SUMS]:
        yield Excerpt("Sum", shown, _quote_around(contract, passage.start))


def _quote_around(contract: Contract, at: int) -> ContractPassage:
    """Quote the sentence at an offset, or the part of it that may be quoted."""
    return contract.build_passage(contract.build_hit(PhraseMatch(at, at)))


def _find_kind(contract: Contract, kind: ClauseKind) -> list[ContractPassage]:
    """Find the sentences of a kind: first those under a heading of the kind, then by hits."""
    hits = [hit for hit in contract.find_phrases(kind.any, kind.unless) if not hit.is_bare_heading]
    counts = Counter(hit.sentence for hit in hits)
    headed = [c for c in contract.clauses if c.heading and kind.is_named_in(c.heading)]
    first = {hit.sentence: hit for hit in reversed(hits)}
    ranked = sorted(
        first.values(),
        key=lambda hit: (not _is_under(hit.clause, headed), -counts[hit.sentence], hit.match.start),
    )
    found = [contract.build_passage(hit) for hit in ranked]
    others = [other for other in load_clause_kinds().values() if other is not kind]
    for clause in headed:
        is_quoted = any(_is_under(passage.clause, [clause]) for passage in found)
        text = contract.text.clean[clause.body_start : clause.whole_end].strip()
        if text and not is_quoted and not any(each.is_named_in(clause.heading) for each in others):
            found.append(contract.build_opening_passage(clause))
    return found


def _is_under(clause: Clause, headed: Sequence[Clause]) -> bool:
    return any(each.start <= clause.start < each.whole_end for each in headed)


def _search(contract: Contract, query: str) -> list[ContractPassage]:
    """Find the sentences that match the words of a query best."""
    low, spans = contract.text.lowercase, contract.sentences
    words = [word for word in query.lower().split() if word not in UNSPECIFIC_WORDS]
    passages = (Passage(str(at), "", low[slice(*span)]) for at, span in enumerate(spans))
    hits = PassageIndex(passages).search(" ".join(words), MAX_SEARCH_RESULTS) if words else []
    found = list[ContractPassage]()
    for start, end in sorted(spans[int(hit.passage.source)] for hit in hits):
        places = [at for word in words if (at := low.find(word, start, end)) >= 0]
        found.append(_quote_around(contract, min(places, default=start)))
    return found


def _quote_whole_clauses(contract: Contract, number: str) -> dict[str, Any]:
    found = find_clauses(contract.clauses, number)
    if not found:
        known = ", ".join(clause.number for clause in contract.clauses if clause.level == 0)
        raise ToolRefused(f"{contract.name} has no clause {number!r:.40}; it has {known[:1500]}")
    report = ToolReport(gaps=list_reading_gaps(contract))
    for clause in found:
        whole = ContractPassage(clause, clause.start, clause.whole_end)
        text = sanitize_line(contract.quote(whole), MAX_WHOLE_CLAUSE_CHARS)
        report.lines.append(f"{format_place(contract, whole)}:\n\n{text}")
        add_quotation(
            report, contract, name_contract(contract), contract.build_opening_passage(clause)
        )
    return report.to_json()
