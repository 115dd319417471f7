"""A contract's parties, dates, law, sums and the clauses that a review looks for, quoted."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from nodes.tools.contracts.answers import (
    MAX_SHOWN_CHARS,
    NOT_LEGAL_ADVICE,
    Answer,
    claim,
    fitted,
    place,
    quoted,
    table,
)
from nodes.tools.contracts.clauses import PREAMBLE, SIGNATURES, Clause, named
from nodes.tools.contracts.contract import MAX_QUOTE_CHARS, Contract, Passage
from nodes.tools.contracts.kinds import KINDS, Kind
from nodes.tools.contracts.scope import about, is_in_scope, subjects
from nodes.tools.contracts.stated import Stated, name_of, stated_facts
from nodes.tools.plain_text import plain_line

MAX_OF_A_KIND, MAX_OF_AN_ASKED_KIND = 2, 6
MAX_OUTLINE, MAX_OUTLINE_CHARS = 40, 70
MAX_SUMMARY_CHARS = 9_000
MAX_KINDS_AT_LENGTH = 3
MAX_CLAUSE_CHARS = 12_000
MAX_WHOLE_QUOTE_CHARS = 900


def extract(contract: Contract, query: str) -> Answer:
    """Give the facts, and the clauses of the kinds that a query names; without any, of all.

    A query that names none, and speaks of nothing a contract review knows, is looked for in the
    text; what is not there either is no matter of this contract.
    """
    asked = [kind for kind in KINDS if kind.is_named_in(query)]
    if "key clause" in " ".join(query.lower().split()):
        asked = []
    is_short = 0 < len(asked) <= MAX_KINDS_AT_LENGTH
    found = [(kind.title, _passages(contract, kind, is_short)) for kind in asked or KINDS]
    if not asked and not is_in_scope(query):
        passages = about(contract, subjects(query))
        if not passages:
            return _out_of_scope(contract, query)
        found = [(f"On {', '.join(subjects(query))}", passages)]
    return _answer(contract, found, MAX_QUOTE_CHARS if is_short else MAX_SHOWN_CHARS)


def _out_of_scope(contract: Contract, query: str) -> Answer:
    message = (
        f"{contract.name} says nothing on {', '.join(subjects(query))[:300]}; here clauses are "
        "extracted, checked against a playbook, and their risks weighed"
    )
    return {"escalation": {"reason": "out_of_scope", "message": message}}


def _answer(
    contract: Contract, kinds: Sequence[tuple[str, Sequence[Passage]]], max_shown: int
) -> Answer:
    facts, gaps = stated_facts(contract)
    found = [(title, passages) for title, passages in kinds if passages]
    missing = [title.lower() for title, passages in kinds if not passages]
    name = name_of(contract)
    stated = [
        Stated(title, "", f"{title}: {passage.clause.name} of the {name}", passage)
        for title, passages in found
        for passage in passages
    ]
    everything = [one for one in (*facts, *stated) if one.passage.start < one.passage.end]
    return fitted(
        {
            "summary": _summary(contract, facts, found, missing, max_shown),
            "gaps": [*gaps, NOT_LEGAL_ADVICE],
            "clauses": _outline(contract),
            "claims": [claim(contract, one.text, one.passage) for one in everything],
            "places": [place(contract, one.passage) for one in everything],
        },
        ("claims", "places"),
    )


def clause_text(contract: Contract, number: str) -> Answer | None:
    """Give one clause whole, by its number; None when there is none."""
    found = named(contract.clauses, number)
    if not found:
        return None
    reading = contract.reading
    whole = [Passage(each, *reading.trimmed(each.start, each.whole_end)) for each in found]
    texts = [contract.quote(passage) for passage in whole]
    over = [
        f"{one.number} is given up to {MAX_CLAUSE_CHARS:,} characters"
        for one, text in zip(found, texts, strict=True)
        if len(text) > MAX_CLAUSE_CHARS
    ]
    quotes = [contract.opening(each, MAX_WHOLE_QUOTE_CHARS) for each in found]
    return fitted(
        {
            "summary": "\n".join(
                f"- {each.name}, line {reading.line(each.start)}: "
                f"{quoted(contract, quote, MAX_WHOLE_QUOTE_CHARS)}"
                for each, quote in zip(found, quotes, strict=True)
            ),
            "gaps": [*over, NOT_LEGAL_ADVICE],
            "texts": [text[:MAX_CLAUSE_CHARS] for text in texts],
            "claims": [
                claim(contract, f"{quote.clause.name} of the {name_of(contract)}", quote)
                for quote in quotes
            ],
            "places": [place(contract, quote) for quote in quotes],
        },
        ("texts",),
    )


def _passages(contract: Contract, kind: Kind, at_length: bool) -> list[Passage]:
    """Choose the sentences of a kind: under a heading of the kind first, then by their hits."""
    hits = [hit for hit in contract.find(kind.phrases, kind.exceptions) if not hit.is_bare_heading]
    counts = Counter(hit.sentence for hit in hits)
    headed = [c for c in contract.clauses if c.heading and kind.is_named_in(c.heading)]
    first = {hit.sentence: hit for hit in reversed(hits)}
    ranked = sorted(
        first.values(),
        key=lambda hit: (not _is_under(hit.clause, headed), -counts[hit.sentence], hit.match.start),
    )
    found = [contract.passage(hit) for hit in ranked]
    bare = [c for c in headed if not any(_is_under(passage.clause, [c]) for passage in found)]
    found += [contract.opening(clause) for clause in bare]
    return found[: MAX_OF_AN_ASKED_KIND if at_length else MAX_OF_A_KIND]


def _is_under(clause: Clause, headed: Sequence[Clause]) -> bool:
    return any(each.start <= clause.start < each.whole_end for each in headed)


def _outline(contract: Contract) -> list[str]:
    whole = [c for c in contract.clauses if c.level == 0 and c.number not in (PREAMBLE, SIGNATURES)]
    lines = [f"{c.number} {c.heading} (line {contract.reading.line(c.start)})" for c in whole]
    more = [f"… and {len(lines) - MAX_OUTLINE} more"] if len(lines) > MAX_OUTLINE else []
    return [plain_line(line, MAX_OUTLINE_CHARS) for line in lines[:MAX_OUTLINE]] + more


def _within(lines: Sequence[str], max_chars: int) -> list[str]:
    return [
        line
        for line, size in zip(lines, accumulate(map(len, lines)), strict=True)
        if size <= max_chars
    ]


def _summary(
    contract: Contract,
    facts: Sequence[Stated],
    found: Sequence[tuple[str, Sequence[Passage]]],
    missing: Sequence[str],
    max_shown: int,
) -> str:
    parts = [c for c in contract.clauses if c.number not in (PREAMBLE, SIGNATURES)]
    whole = sum(clause.level == 0 for clause in parts)
    below = f", with {len(parts) - whole} parts below them" if len(parts) > whole else ""
    rows = [("Document", f"{name_of(contract)} ({contract.name}): {whole} clauses{below}", "")]
    for one in facts:
        line = contract.reading.line(one.passage.start)
        rows.append((one.label, one.value, f"{one.passage.clause.name}, line {line}"))
    lines = list[str]()
    for title, passages in found:
        for passage in passages:
            line = contract.reading.line(passage.start)
            where = f"{passage.clause.name}, line {line}"
            lines.append(f"- **{title}** {where}: {quoted(contract, passage, max_shown)}")
    kept = _within(lines, MAX_SUMMARY_CHARS)
    if len(kept) < len(lines):
        lines = [*kept, f"- … and {len(lines) - len(kept)} more; ask for a kind of clause by name"]
    if missing:
        lines.append(f"- **Not found:** {', '.join(missing)}")
    facts_table = table(("", "what it says", "where"), rows)
    return "\n\n".join([facts_table, "### Quoted", "\n".join(lines)])
