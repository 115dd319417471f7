"""Extract and quote what a review needs of a contract, and check quotations against contracts."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from extensions.tools.documents.index import PassageIndex
from extensions.tools.documents.passages import Passage
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.text.terms import extract_terms
from nodes.text.word_lists import UNSPECIFIC_WORDS
from nodes.tools.framework.tool_report import ToolReport, fit_to_size

from .clause_kinds import find_kind, load_clause_kinds
from .clauses import PREAMBLE, SIGNATURES, find_clauses
from .contract import MAX_QUOTE_CHARS, Contract, ContractPassage, PhraseHit
from .contract_text import MAX_CHARS
from .facts import find_agreement_date, find_governing_law, find_parties, find_sums, name_contract
from .phrases import PhraseMatch
from .reading import (
    MAX_SHOWN_CHARS,
    add_quotation,
    format_place,
    format_quotation,
    list_reading_gaps,
    read_contract,
)

MAX_PASSAGES_PER_KIND, MAX_PASSAGES_PER_ASKED_KIND = 2, 6
QUOTE_CHARS: Final = (MAX_QUOTE_CHARS, 300, 200, 140)
"""Characters of a quotation; shorter before a kind of clause is left out."""
MAX_SUMS = 5
MAX_WHOLE_CLAUSE_CHARS = 12_000
MAX_SEARCH_RESULTS = 3
_FACT_LABELS = ("Party", "Date", "Governing law", "Sum")


class Fact(NamedTuple):
    """A fact of the contract, and its place."""

    label: str
    value: str
    passage: ContractPassage


class _Found(NamedTuple):
    """A passage, and its kind of clause."""

    label: str
    hit: PhraseHit


def extract(name: str, text: str, kinds: Sequence[str], query: str, clause: str) -> dict[str, Any]:
    """Return a contract's facts and its clauses of some kinds, of all kinds, or one by number.

    Raises:
        ToolRefused: the text is no contract, or has no such clause.
    """
    contract = read_contract(name, text)
    if clause:
        return _quote_whole_clauses(contract, clause)
    known = load_clause_kinds()
    hits = {known[kind].title: find_kind(contract, known[kind]) for kind in kinds or known}
    missing = [kind for kind in kinds or known if not hits[known[kind].title]]
    most = MAX_PASSAGES_PER_ASKED_KIND if kinds else MAX_PASSAGES_PER_KIND
    firsts, *others = (
        [_Found(title, each[rank]) for title, each in hits.items() if rank < len(each)]
        for rank in range(most)
    )
    firsts += [_Found("Words searched", hit) for hit in _search(contract, query)]
    found = [*firsts, *chain.from_iterable(others)]
    sums = _list_sums(contract)
    facts = [*_list_facts(contract), *sums[:MAX_SUMS]]
    counts = Counter({title: len(each) for title, each in hits.items()} | {"Sum": len(sums)})
    chars = MAX_QUOTE_CHARS if kinds else MAX_SHOWN_CHARS
    sizes = [(size, MAX_QUOTE_CHARS) for size in range(len(found), len(firsts), -4)]
    sizes += [(len(firsts), size) for size in QUOTE_CHARS]
    sizes += [(size, QUOTE_CHARS[-1]) for size in range(len(firsts) - 4, 0, -4)]

    def build(size: int) -> ToolReport:
        return _build_report(contract, facts, found, counts, missing, chars, *sizes[size])

    values: dict[str, list[str]] = {label: [] for label in _FACT_LABELS}
    for fact in facts:
        values[fact.label].append(fact.value)
    return {**fit_to_size(build, range(len(sizes))), "facts": values, "not_found": missing}


def _build_report(
    contract: Contract,
    facts: Sequence[Fact],
    found: Sequence[_Found],
    counts: Counter[str],
    missing: Sequence[str],
    shown_chars: int,
    most: int,
    quote_chars: int,
) -> ToolReport:
    """Return the report with some of the passages, each of limited length.

    Args:
        counts: of all sums, and of all passages of each kind, also those that are not shown.
    """
    report, name = ToolReport(), name_contract(contract)
    whole = [c for c in contract.clauses if c.level == 0 and c.number not in (PREAMBLE, SIGNATURES)]
    rows = [("Document", f"{name} ({contract.name}): {len(whole)} clauses", "")]
    rows += [(each.label, each.value, format_place(contract, each.passage)) for each in facts]
    report.add_table(("", "what it says", "where"), rows)
    for each in facts:
        add_quotation(report, contract, f"{name}: {each.label} {each.value}", each.passage)
    for label, hit in found[:most]:
        words = contract.build_passage(hit, quote_chars)
        quotation = format_quotation(contract, words, min(shown_chars, quote_chars))
        report.lines.append(f"- **{label}** {format_place(contract, words)}: {quotation}")
        add_quotation(report, contract, f"{name}: {label}", words)
    shown = Counter([*(each.label for each in facts), *(each.label for each in found[:most])])
    if more := counts - shown:
        listed = ", ".join(f"{title} {count}" for title, count in more.items())
        report.lines.append(f"- **More, not shown; ask by kind:** {listed}")
    if missing:
        report.lines.append(f"- **Not found:** {', '.join(missing).replace('_', ' ')}")
    report.gaps += _list_gaps(contract, facts)
    if unseen := [title for title in more if more[title] == counts[title]]:
        report.gaps.append(f"{contract.name}: found, but not shown: {', '.join(unseen)}")
    return report


def _list_gaps(contract: Contract, facts: Sequence[Fact]) -> list[str]:
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


def _list_facts(contract: Contract) -> Iterator[Fact]:
    for party in find_parties(contract):
        shown = f"{party.name} ({party.role})" if party.role else party.name
        clause = contract.find_clause(party.start)
        yield Fact("Party", shown, ContractPassage(clause, party.start, party.end))
    if dated := find_agreement_date(contract):
        value = dated[0].isoformat() if dated[0] else "left blank"
        yield Fact("Date", value, _quote_around(contract, dated[1].start))
    if governing := find_governing_law(contract):
        yield Fact("Governing law", *governing)


def _list_sums(contract: Contract) -> list[Fact]:
    sums: dict[str, ContractPassage] = {}
    for passage in find_sums(contract):
        sums.setdefault(contract.text.format_on_one_line(passage.start, passage.end), passage)
    return [Fact("Sum", shown, _quote_around(contract, at.start)) for shown, at in sums.items()]


def _quote_around(contract: Contract, at: int) -> ContractPassage:
    """Quote the sentence at an offset, or the part of it that may be quoted."""
    return contract.build_passage(contract.build_hit(PhraseMatch(at, at)))


def _search(contract: Contract, query: str) -> list[PhraseHit]:
    """Find the sentences that hold at least half of the words of a query."""
    low, spans = contract.text.lowercase, contract.sentences
    words = [word for word in query.lower().split() if word not in UNSPECIFIC_WORDS]
    wanted = extract_terms(" ".join(words))
    passages = (Passage(str(at), "", low[slice(*span)]) for at, span in enumerate(spans))
    hits = PassageIndex(passages).search(" ".join(words), MAX_SEARCH_RESULTS) if wanted else []
    found = list[PhraseHit]()
    for start, end in sorted(spans[int(hit.passage.source)] for hit in hits):
        if 2 * len(wanted & extract_terms(low[start:end])) >= len(wanted):
            places = [at for word in words if (at := low.find(word, start, end)) >= 0]
            at = min(places, default=start)
            found.append(contract.build_hit(PhraseMatch(at, at)))
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
        opening = contract.build_opening_passage(clause)
        add_quotation(report, contract, name_contract(contract), opening)
    return report.to_json()


MAX_PROBLEM_CHARS = 200
MAX_LISTED_QUOTATIONS = 40
_CLAUSE = Pattern(r"\b(?:clause|section|article)\s+(?P<number>\d[\w.()]*|[IVXL]+\b)", re.IGNORECASE)


def check_quotations(
    claims: Sequence[Mapping[str, str]], materials: Mapping[str, str]
) -> dict[str, Any]:
    """Return a finding for each quotation that is not in its contract as quoted."""
    quoted = [claim for claim in claims if claim["quotation"].strip()]
    named = {claim["source"] for claim in quoted} & materials.keys()
    contracts = {name: Contract(name, materials[name][:MAX_CHARS]) for name in named}
    checked = [(claim, *_check_quotation(claim, contracts)) for claim in quoted]
    wrong = [each for each in checked if each[1]]
    report = ToolReport()
    report.lines.append(
        f"{format_count(len(checked), 'quotation')} checked: {len(checked) - len(wrong)} in the "
        f"contract as quoted, {len(wrong)} not."
    )
    if without := len(claims) - len(quoted):
        report.lines.append(f"{format_count(without, 'claim')} without a quotation.")
    for claim, problem, line in wrong[:MAX_LISTED_QUOTATIONS]:
        quote, text = (
            sanitize_line(claim[key], MAX_PROBLEM_CHARS) for key in ("quotation", "text")
        )
        message = f"{problem}: \u201c{quote}\u201d, for: {text}"
        advice = "Quote the contract's own words, or take the claim back."
        report.add_finding("high", message, claim["source"], advice, line)
    if len(wrong) > MAX_LISTED_QUOTATIONS:
        report.gaps.append(f"{len(wrong) - MAX_LISTED_QUOTATIONS} more do not hold")
    return report.to_json() | {"verdicts": Counter(problem or "held" for _, problem, _ in checked)}


def _check_quotation(
    claim: Mapping[str, str], contracts: Mapping[str, Contract]
) -> tuple[str, int | None]:
    """Return why a quotation does not hold, empty if it does, and its line."""
    contract = contracts.get(claim["source"])
    if contract is None:
        return "Quotation of what is not a material", None
    loose = Pattern(r"\s+".join(map(re.escape, claim["quotation"].split())))
    places = [found.start() for found in loose.finditer(contract.text.raw)]
    if not places:
        return "Quotation not found", None
    line = contract.text.find_line_number(places[0])
    wanted = _CLAUSE.search(claim["text"])
    clauses = find_clauses(contract.clauses, wanted["number"].rstrip(".")) if wanted else []
    if clauses and not any(c.start <= at < c.whole_end for c in clauses for at in places):
        return f"Quotation is in {contract.find_clause(places[0]).number}, not where named", line
    return "", line
