"""Build a draft from the sentences of the materials, unchanged."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice

from nodes.text.terms import extract_terms
from nodes.tools.reading.prose_sentences import Sentence, split_sentences

MAX_SENTENCES = 12
MAX_SENTENCES_READ = 400
"""Sentences of a text that are considered."""
MIN_CHOSEN_SENTENCES = 3
"""If fewer are about the query, a text is used from its beginning."""


def choose_sentences(query: str, texts: Mapping[str, str]) -> dict[str, list[Sentence]]:
    """Return the sentences of each text that are about a query, in their order.

    A sentence is also about what the heading above it names; a term that few share counts more.
    """
    wanted = extract_terms(query)
    share = max(MIN_CHOSEN_SENTENCES, MAX_SENTENCES // len(texts))
    chosen = {}
    for name, text in texts.items():
        every = list(islice(split_sentences(text), MAX_SENTENCES_READ))
        lines = text.split("\n")
        shared = {each: wanted & _collect_terms(each, lines) for each in every}
        counts = Counter(term for terms in shared.values() for term in terms)
        weights = {each: sum(1 / counts[term] for term in shared[each]) for each in every}
        near = sorted((each for each in every if shared[each]), key=lambda each: -weights[each])
        kept = near[:share] if len(near) >= MIN_CHOSEN_SENTENCES else every[:share]
        chosen[name] = [each for each in every if each in kept]
    return chosen


def _collect_terms(sentence: Sentence, lines: Sequence[str]) -> frozenset[str]:
    above = (lines[number] for number in range(sentence.line - 2, -1, -1))
    heading = next((line for line in above if line.startswith("#")), "")
    return extract_terms(f"{heading} {sentence.text}")
