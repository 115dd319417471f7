"""A parsed contract: its clauses, its sentences, and where wording occurs in it."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from nodes.limits.patterns import Pattern

from .clauses import SIGNATURES, Clause, split_into_clauses
from .contract_text import ContractText
from .noise import Span
from .phrases import Phrase, PhraseMatch, find_sentence
from .sentences import split_sentences

MAX_QUOTE_CHARS = 420
CONTEXT_BEFORE_CHARS = 140
"""Characters kept of a long sentence before the words that were looked for."""
MIN_DENSITY = 0.012
"""Share of contract terms among all words from which a text counts as a contract."""
_CONTRACT_SIGNS = (
    Pattern(r"\b(?:agreement|contract|lease|licen[cs]e|deed|amendment|terms and conditions)\b"),
    Pattern(r"\bpart(?:y|ies)\b|\([^()\n]{0,30}\"[^\"()\n]{2,40}\"\)"),
    Pattern(r"\b(?:between|among|entered into|effective date|in witness|executed|dated)\b"),
    Pattern(
        r"\b(?:governed by|terminat\w+|confidential\w*|indemnif\w+|liable|liability|warrant\w+"
        r"|assign\w*|breach|consideration|notice)\b"
    ),
)
_DUTY = Pattern(r"\b(?:shall|hereby|agrees? (?:to|that)|undertakes?|may not|must|will)\b")
MIN_SIGNS, MIN_DUTIES = 3, 1


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
        low = self.text.lowercase
        counts = [len(sign.findall(low)) for sign in _CONTRACT_SIGNS]
        duties = len(_DUTY.findall(low))
        density = (counts[0] + counts[1] + duties) / max(1, len(low.split()))
        return (
            sum(map(bool, counts)) >= MIN_SIGNS and duties >= MIN_DUTIES and density > MIN_DENSITY
        )

    def find_phrases(
        self, wording: Iterable[Phrase], unless: Sequence[Phrase] = ()
    ) -> list[PhraseHit]:
        """Find wording, in order; of overlapping matches, the first and longest.

        A sentence that holds any of `unless` is skipped.
        """
        found = [hit for phrase in wording for hit in self._find_hits(phrase)]
        if unless:
            found = [hit for hit in found if not self._contains_any(hit.sentence, unless)]
        found.sort(key=lambda hit: (hit.match.start, -hit.match.end))
        kept: list[PhraseHit] = []
        for hit in found:
            if not kept or hit.match.start >= kept[-1].match.end:
                kept.append(hit)
        return kept

    def _contains_any(self, sentence: Span, wording: Sequence[Phrase]) -> bool:
        low = self.text.lowercase
        return any(True for phrase in wording for _ in phrase.find_matches(low, *sentence))

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
        """Quote the sentence of a hit, or the part around it if the sentence is long."""
        start, end = hit.sentence
        if self.text.clean[end - 1] == ":" and hit.clause.end < hit.clause.whole_end:
            end = self._find_list_end(hit, max_chars)
        if end - start > max_chars:
            before = min(CONTEXT_BEFORE_CHARS, max_chars // 3)
            start = self._find_word_start(max(start, hit.match.start - before), start)
            end = self._find_word_end(min(end, start + max_chars), end)
        start, end = self.text.cut_noise(start, end, hit.match.start)
        return ContractPassage(hit.clause, start, end)

    def _find_list_end(self, hit: PhraseHit, max_chars: int) -> int:
        """Extend a sentence that ends in a colon to the end of its list, within the limit."""
        if hit.sentence[1] < self.text.trim_span(hit.clause.start, hit.clause.end)[1]:
            return hit.sentence[1]
        most = self.text.trim_span(hit.clause.start, hit.clause.whole_end)[1]
        return self._find_word_end(min(most, hit.sentence[0] + max_chars), most)

    def build_opening_passage(
        self, clause: Clause, max_chars: int = MAX_QUOTE_CHARS
    ) -> ContractPassage:
        """Quote the beginning of a clause."""
        end = self._find_word_end(
            min(clause.whole_end, clause.text_start + max_chars), clause.whole_end
        )
        return ContractPassage(
            clause, *self.text.cut_noise(clause.text_start, end, clause.text_start)
        )

    def quote(self, passage: ContractPassage) -> str:
        """Return a passage's words verbatim."""
        return self.text.raw[passage.start : passage.end]

    def _find_word_start(self, at: int, least: int) -> int:
        while at > least and not self.text.clean[at - 1].isspace():
            at -= 1
        return at

    def _find_word_end(self, at: int, most: int) -> int:
        if at == most:
            return at
        space = max(self.text.clean.rfind(mark, at - 80, at) for mark in " \n")
        return space if space > 0 else at
