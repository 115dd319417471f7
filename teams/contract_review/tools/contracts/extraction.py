"""Extract and quote a contract's parties, dates, law, sums and the clauses a review needs."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from nodes.text.plain_text import sanitize_line

from .clause_kinds import CLAUSE_KINDS, ClauseKind
from .clauses import PREAMBLE, SIGNATURES, Clause, find_clauses
from .contract import MAX_QUOTE_CHARS, Contract, ContractPassage
from .fact_claims import StatedFact, choose_name, collect_facts
from .out_of_scope import (
    extract_subject_words,
    find_passages_about,
    is_in_scope,
)
from .tool_result import (
    MAX_SHOWN_CHARS,
    NOT_LEGAL_ADVICE,
    ToolResult,
    build_claim,
    build_place,
    fit_to_size,
    format_quotation,
    format_table,
)

MAX_PASSAGES_PER_KIND, MAX_PASSAGES_PER_ASKED_KIND = 2, 6
MAX_OUTLINE_LINES, MAX_OUTLINE_CHARS = 40, 70
MAX_SUMMARY_CHARS = 9_000
MAX_DETAILED_KINDS = 3
MAX_CLAUSE_CHARS = 12_000
MAX_WHOLE_QUOTE_CHARS = 900


def extract_facts_and_clauses(contract: Contract, query: str) -> ToolResult:
    """Return the facts, and the clauses of the kinds that a query names, else of all kinds.

    A query that names no kind, and no subject that a contract review covers, is searched for in the
    text; if it is not there either, it is out of scope for this contract.
    """
    asked = [kind for kind in CLAUSE_KINDS if kind.is_named_in(query)]
    if "key clause" in " ".join(query.lower().split()):
        asked = []
    is_short = 0 < len(asked) <= MAX_DETAILED_KINDS
    found = [
        (kind.title, _choose_passages(contract, kind, is_short)) for kind in asked or CLAUSE_KINDS
    ]
    if not asked and not is_in_scope(query):
        passages = find_passages_about(contract, extract_subject_words(query))
        if not passages:
            return _escalate_out_of_scope(contract, query)
        found = [(f"On {', '.join(extract_subject_words(query))}", passages)]
    return _build_result(contract, found, MAX_QUOTE_CHARS if is_short else MAX_SHOWN_CHARS)


def _escalate_out_of_scope(contract: Contract, query: str) -> ToolResult:
    message = (
        f"{contract.name} says nothing on {', '.join(extract_subject_words(query))[:300]}; "
        "here clauses are "
        "extracted, checked against a playbook, and their risks weighed"
    )
    return {"escalation": {"reason": "out_of_scope", "message": message}}


def _build_result(
    contract: Contract, kinds: Sequence[tuple[str, Sequence[ContractPassage]]], max_shown: int
) -> ToolResult:
    facts, gaps = collect_facts(contract)
    found = [(title, passages) for title, passages in kinds if passages]
    missing = [title.lower() for title, passages in kinds if not passages]
    name = choose_name(contract)
    stated = [
        StatedFact(title, "", f"{title}: {passage.clause.name} of the {name}", passage)
        for title, passages in found
        for passage in passages
    ]
    everything = [one for one in (*facts, *stated) if one.passage.start < one.passage.end]
    return fit_to_size(
        {
            "summary": _build_summary(contract, facts, found, missing, max_shown),
            "gaps": [*gaps, NOT_LEGAL_ADVICE],
            "clauses": _build_outline(contract),
            "claims": [build_claim(contract, one.text, one.passage) for one in everything],
            "places": [build_place(contract, one.passage) for one in everything],
        },
        ("claims", "places"),
    )


def quote_whole_clause(contract: Contract, number: str) -> ToolResult | None:
    """Return one whole clause by its number; None if there is none."""
    found = find_clauses(contract.clauses, number)
    if not found:
        return None
    reading = contract.text
    whole = [
        ContractPassage(each, *reading.trim_span(each.start, each.whole_end)) for each in found
    ]
    texts = [contract.quote(passage) for passage in whole]
    over = [
        f"{one.number} is given up to {MAX_CLAUSE_CHARS:,} characters"
        for one, text in zip(found, texts, strict=True)
        if len(text) > MAX_CLAUSE_CHARS
    ]
    quotes = [contract.build_opening_passage(each, MAX_WHOLE_QUOTE_CHARS) for each in found]
    return fit_to_size(
        {
            "summary": "\n".join(
                f"- {each.name}, line {reading.find_line_number(each.start)}: "
                f"{format_quotation(contract, quote, MAX_WHOLE_QUOTE_CHARS)}"
                for each, quote in zip(found, quotes, strict=True)
            ),
            "gaps": [*over, NOT_LEGAL_ADVICE],
            "texts": [text[:MAX_CLAUSE_CHARS] for text in texts],
            "claims": [
                build_claim(contract, f"{quote.clause.name} of the {choose_name(contract)}", quote)
                for quote in quotes
            ],
            "places": [build_place(contract, quote) for quote in quotes],
        },
        ("texts",),
    )


def _choose_passages(
    contract: Contract, kind: ClauseKind, at_length: bool
) -> list[ContractPassage]:
    """Choose the sentences of a kind: first those under a heading of the kind, then by hits."""
    hits = [
        hit
        for hit in contract.find_phrases(kind.phrases, kind.exceptions)
        if not hit.is_bare_heading
    ]
    counts = Counter(hit.sentence for hit in hits)
    headed = [c for c in contract.clauses if c.heading and kind.is_named_in(c.heading)]
    first = {hit.sentence: hit for hit in reversed(hits)}
    ranked = sorted(
        first.values(),
        key=lambda hit: (not _is_under(hit.clause, headed), -counts[hit.sentence], hit.match.start),
    )
    found = [contract.build_passage(hit) for hit in ranked]
    bare = [c for c in headed if not any(_is_under(passage.clause, [c]) for passage in found)]
    found += [contract.build_opening_passage(clause) for clause in bare]
    return found[: MAX_PASSAGES_PER_ASKED_KIND if at_length else MAX_PASSAGES_PER_KIND]


def _is_under(clause: Clause, headed: Sequence[Clause]) -> bool:
    return any(each.start <= clause.start < each.whole_end for each in headed)


def _build_outline(contract: Contract) -> list[str]:
    whole = [c for c in contract.clauses if c.level == 0 and c.number not in (PREAMBLE, SIGNATURES)]
    lines = [
        f"{c.number} {c.heading} (line {contract.text.find_line_number(c.start)})" for c in whole
    ]
    more = (
        [f"… and {len(lines) - MAX_OUTLINE_LINES} more"] if len(lines) > MAX_OUTLINE_LINES else []
    )
    return [sanitize_line(line, MAX_OUTLINE_CHARS) for line in lines[:MAX_OUTLINE_LINES]] + more


def _keep_within(lines: Sequence[str], max_chars: int) -> list[str]:
    return [
        line
        for line, size in zip(lines, accumulate(map(len, lines)), strict=True)
        if size <= max_chars
    ]


def _build_summary(
    contract: Contract,
    facts: Sequence[StatedFact],
    found: Sequence[tuple[str, Sequence[ContractPassage]]],
    missing: Sequence[str],
    max_shown: int,
) -> str:
    parts = [c for c in contract.clauses if c.number not in (PREAMBLE, SIGNATURES)]
    whole = sum(clause.level == 0 for clause in parts)
    below = f", with {len(parts) - whole} parts below them" if len(parts) > whole else ""
    rows = [("Document", f"{choose_name(contract)} ({contract.name}): {whole} clauses{below}", "")]
    for one in facts:
        line = contract.text.find_line_number(one.passage.start)
        rows.append((one.label, one.value, f"{one.passage.clause.name}, line {line}"))
    lines = list[str]()
    for title, passages in found:
        for passage in passages:
            line = contract.text.find_line_number(passage.start)
            where = f"{passage.clause.name}, line {line}"
            lines.append(f"- **{title}** {where}: {format_quotation(contract, passage, max_shown)}")
    kept = _keep_within(lines, MAX_SUMMARY_CHARS)
    if len(kept) < len(lines):
        lines = [*kept, f"- … and {len(lines) - len(kept)} more; ask for a kind of clause by name"]
    if missing:
        lines.append(f"- **Not found:** {', '.join(missing)}")
    facts_table = format_table(("", "what it says", "where"), rows)
    return "\n\n".join([facts_table, "### Quoted", "\n".join(lines)])
