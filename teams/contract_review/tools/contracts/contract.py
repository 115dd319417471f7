"""A parsed contract: its clauses, its sentences, and where wording occurs in it."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from nodes.limits.patterns import Pattern

from .clauses import SIGNATURES, Clause, split_into_clauses
from .contract_text import ContractText, Span, split_sentences
from .phrases import Phrase, PhraseMatch, find_sentence

MAX_QUOTE_CHARS = 420
CONTEXT_BEFORE_CHARS = 140
"""Characters kept of a long sentence before the words that were looked for."""
_TERM = Pattern(
    r"\b(?:agreement|contract|lease|licen[cs]e|deed|amendment|part(?:y|ies)|between|among|hereby"
    r"|entered into|effective date|in witness|governed by|terminat|confidential|indemnif|liab"
    r"|warrant|assign|breach|consideration|notice|shall|will|agrees?|undertakes?|must|may not)"
)
MIN_TERMS = 3
MIN_TERM_DENSITY = 0.02
"""Different words of contracts, and their share of all words, from which a text counts as one."""


@dataclass(frozen=True)
class ContractPassage:
    """Words of a contract, verbatim, with their place."""

    clause: Clause
    start: int
    end: int


@dataclass(frozen=True)
class PhraseHit:
    """Wording that was found, with the sentence that holds it."""

    clause: Clause
    sentence: Span
    match: PhraseMatch

    @property
    def is_bare_heading(self) -> bool:
        """Return whether this is a heading whose text is in the clauses below it."""
        return bool(self.clause.heading) and self.sentence[1] <= self.clause.body_start


class Contract:
    """A text that is read as a contract."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, ContractText(text)

    @cached_property
    def clauses(self) -> list[Clause]:
        """Return all clauses, in order."""
        return split_into_clauses(self.text)

    @cached_property
    def sentences(self) -> list[Span]:
        """Return all sentences except signatures; a heading belongs to its first sentence."""
        found = list[Span]()
        for clause in self.clauses:
            if clause.number == SIGNATURES:
                continue
            spans = list(split_sentences(self.text.clean, clause.body_start, clause.end))
            if clause.text_start < clause.body_start:
                end = spans.pop(0)[1] if spans else clause.body_start
                spans.insert(0, self.text.trim_span(clause.text_start, end))
            found += spans
        return found

    @cached_property
    def _clause_starts(self) -> list[int]:
        return [clause.start for clause in self.clauses]

    def find_clause(self, at: int) -> Clause:
        """Return the clause that contains an offset."""
        return self.clauses[max(0, bisect_right(self._clause_starts, at) - 1)]

    @property
    def is_contract(self) -> bool:
        """Return whether the text uses the wording of contracts."""
        terms = _TERM.findall(self.text.lowercase)
        density = len(terms) / max(1, len(self.text.lowercase.split()))
        return len(set(terms)) >= MIN_TERMS and density >= MIN_TERM_DENSITY

    def find_phrases(
        self, wording: Iterable[Phrase], unless: Sequence[Phrase] = ()
    ) -> list[PhraseHit]:
        """Find wording, in order; of overlapping matches, the first and longest.

        A sentence that holds any of `unless` is skipped.
        """
        found = [hit for phrase in wording for hit in self._find_hits(phrase)]
        low = self.text.lowercase
        found = [
            hit
            for hit in found
            if not any(any(each.find_matches(low, *hit.sentence)) for each in unless)
        ]
        found.sort(key=lambda hit: (hit.match.start, -hit.match.end))
        kept: list[PhraseHit] = []
        for hit in found:
            if not kept or hit.match.start >= kept[-1].match.end:
                kept.append(hit)
        return kept

    def build_hit(self, match: PhraseMatch) -> PhraseHit:
        """Return the clause and the sentence at an offset."""
        span = find_sentence(self.sentences, match.start) or (match.start, match.end)
        return PhraseHit(self.find_clause(match.start), span, match)

    def _find_hits(self, phrase: Phrase) -> Iterator[PhraseHit]:
        for match in phrase.find_matches(self.text.lowercase):
            span = find_sentence(self.sentences, match.start)
            if span and match.end <= span[1] + 1:
                yield PhraseHit(self.find_clause(match.start), span, match)

    def build_passage(self, hit: PhraseHit, max_chars: int = MAX_QUOTE_CHARS) -> ContractPassage:
        """Quote the sentence of a hit, with the list it introduces; a long one around the hit."""
        start, end = hit.sentence
        if self.text.clean[end - 1] == ":":
            end = max(end, hit.clause.whole_end)
        if end - start > max_chars:
            before = min(CONTEXT_BEFORE_CHARS, max_chars // 3)
            if hit.match.start - before > start:
                space = self.text.clean.find(" ", hit.match.start - before)
                start = min(space + 1, hit.match.start) if space >= 0 else hit.match.start
            end = self._find_cut(start, end, max_chars)
        return ContractPassage(hit.clause, *self.text.trim_span(start, end))

    def build_opening_passage(self, clause: Clause) -> ContractPassage:
        """Quote the beginning of a clause."""
        end = self._find_cut(clause.text_start, clause.whole_end, MAX_QUOTE_CHARS)
        return ContractPassage(clause, *self.text.trim_span(clause.text_start, end))

    def _find_cut(self, start: int, end: int, max_chars: int) -> int:
        """Return where a text is cut between words to be short enough."""
        if end - start <= max_chars:
            return end
        space = self.text.clean.rfind(" ", start, start + max_chars)
        return space if space > start else start + max_chars

    def quote(self, passage: ContractPassage) -> str:
        """Return a passage's words verbatim."""
        return self.text.raw[passage.start : passage.end]
