"""Extract and quote a contract's parties, dates, law, sums and the clauses a review needs."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.text.word_lists import UNSPECIFIC_WORDS
from nodes.tools.framework.tool_report import ToolReport

from .clause_kinds import ClauseKind, ClauseKindName, load_clause_kinds
from .clauses import PREAMBLE, SIGNATURES, Clause, find_clauses
from .contract import MAX_QUOTE_CHARS, Contract, ContractPassage, PhraseHit
from .facts import find_agreement_date, find_governing_law, find_sums, name_contract
from .parties import Party, find_parties
from .phrases import PhraseMatch, parse_phrase
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
MAX_DETAILED_KINDS = 3
MAX_SUMS = 5
MAX_OUTLINE_LINES, MAX_OUTLINE_CHARS = 40, 70
MAX_WHOLE_CLAUSE_CHARS = 12_000
MIN_STEM_CHARS = 6
"""Shorter words must match exactly: `trade` must not find trademarks."""
_WORD = Pattern(r"[a-z][a-z'-]{2,}")


@dataclass(frozen=True)
class Excerpt:
    """A fact or a clause that was found, and its place."""

    label: str
    value: str
    """What a fact is; empty for a clause."""
    passage: ContractPassage


def extract(
    name: str, text: str, kinds: Sequence[ClauseKindName], query: str, clause: str
) -> dict[str, Any]:
    """Return a contract's facts and its clauses of some kinds, of all kinds, or one by number.

    Raises:
        ToolRefused: the text is no contract, or has no such clause.
    """
    contract = read_contract(name, text)
    if clause:
        return _quote_whole_clauses(contract, clause)
    known = load_clause_kinds()
    is_detailed = 0 < len(kinds) <= MAX_DETAILED_KINDS
    most = MAX_PASSAGES_PER_ASKED_KIND if is_detailed else MAX_PASSAGES_PER_KIND
    found = [
        Excerpt(known[kind].title, "", passage)
        for kind in kinds or known
        for passage in _find_kind(contract, known[kind])[:most]
    ]
    words = [word for word in _WORD.findall(query.lower()) if word not in UNSPECIFIC_WORDS]
    about = _find_words(contract, list(dict.fromkeys(words)))
    found = [*(Excerpt("Words searched", "", passage) for passage in about), *found]
    labels = {each.label for each in found}
    missing = [kind for kind in kinds or known if known[kind].title not in labels]
    facts = list(_list_facts(contract))
    chars = MAX_QUOTE_CHARS if is_detailed else MAX_SHOWN_CHARS
    told = fit_claims(partial(_build_report, contract, facts, found, missing, chars))
    values = {label: [f.value for f in facts if f.label == label] for label in _FACT_LABELS}
    return {**told, "facts": values, "not_found": missing}


_FACT_LABELS = ("Party", "Date", "Governing law", "Sum")


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
        yield Excerpt("Party", shown, _quote_party(contract, party))
    if dated := find_agreement_date(contract):
        value = dated[0].isoformat() if dated[0] else "left blank"
        yield Excerpt("Date", value, _widen_to_sentence(contract, dated[1]))
    if governing := find_governing_law(contract):
        yield Excerpt("Governing law", *governing)
    sums: dict[str, ContractPassage] = {}
    for passage in find_sums(contract):
        sums.setdefault(contract.text.format_on_one_line(passage.start, passage.end), passage)
    for shown, passage in list(sums.items())[:MAX_SUMS]:
        yield Excerpt("Sum", shown, _widen_to_sentence(contract, passage))


def _quote_party(contract: Contract, party: Party) -> ContractPassage:
    match = PhraseMatch(party.start, party.end)
    clause = contract.find_clause(party.start)
    return contract.build_passage(PhraseHit(clause, (party.start, party.end), match))


def _widen_to_sentence(contract: Contract, passage: ContractPassage) -> ContractPassage:
    """Widen a passage to its sentence, or to the part of it that may be quoted."""
    return contract.build_passage(contract.build_hit(PhraseMatch(passage.start, passage.end)))


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
    bare = [
        clause
        for clause in headed
        if not any(_is_under(passage.clause, [clause]) for passage in found)
        and contract.text.clean[clause.body_start : clause.whole_end].strip()
        and not any(other.is_named_in(clause.heading) for other in others)
    ]
    return found + [contract.build_opening_passage(clause) for clause in bare]


def _is_under(clause: Clause, headed: Sequence[Clause]) -> bool:
    return any(each.start <= clause.start < each.whole_end for each in headed)


def _find_words(contract: Contract, words: Sequence[str]) -> list[ContractPassage]:
    """Find the sentences that hold two of the words, or the only one; the rarest words first."""
    hits = {word: contract.find_phrases([parse_phrase(_build_forms(word))]) for word in words}
    first: dict[tuple[int, int], PhraseHit] = {}
    weights = defaultdict[tuple[int, int], float](float)
    counts = Counter[tuple[int, int]]()
    for found in hits.values():
        spans = {hit.sentence: hit for hit in reversed(found) if not hit.is_bare_heading}
        for span, hit in spans.items():
            first.setdefault(span, hit)
            weights[span] += 1 / len(spans)
            counts[span] += 1
    known = [span for span in weights if counts[span] >= min(2, len(words))]
    best = sorted(known, key=lambda span: -weights[span])
    return [contract.build_passage(first[span]) for span in sorted(best[:3])]


def _build_forms(word: str) -> str:
    stem = word.removesuffix("'s").removesuffix("s")
    return f"{stem}*" if len(stem) >= MIN_STEM_CHARS else f"{stem}|{stem}s"


def _quote_whole_clauses(contract: Contract, number: str) -> dict[str, Any]:
    found = find_clauses(contract.clauses, number)
    if not found:
        known = ", ".join(clause.number for clause in contract.clauses if clause.level == 0)
        raise ToolRefused(f"{contract.name} has no clause {number!r:.40}; it has {known[:1500]}")
    report = ToolReport(gaps=list_reading_gaps(contract))
    for clause in found:
        span = contract.text.trim_span(clause.start, clause.whole_end)
        whole = ContractPassage(clause, *span)
        report.lines += [f"{format_place(contract, whole)}:\n"]
        report.lines += [sanitize_line(contract.quote(whole), MAX_WHOLE_CLAUSE_CHARS)]
        passage = contract.build_opening_passage(clause)
        add_quotation(report, contract, name_contract(contract), passage)
    return report.to_json()
