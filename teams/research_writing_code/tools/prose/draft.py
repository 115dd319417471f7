"""Build a draft from the sentences of the materials, unchanged."""

from collections.abc import Mapping, Sequence
from itertools import islice

from extensions.tools.documents.index import PassageIndex
from extensions.tools.documents.passages import Passage
from extensions.tools.reading.prose_sentences import Sentence, split_sentences

MAX_SENTENCES = 12
MAX_SENTENCES_READ = 400
"""Sentences of a text that are considered."""
MIN_CHOSEN_SENTENCES = 3
"""If fewer are about the query, a text is used from its beginning."""


def choose_sentences(query: str, texts: Mapping[str, str]) -> dict[str, list[Sentence]]:
    """Return the sentences of each text that are about a query, in their order.

    A sentence is also about what the heading above it names.
    """
    share = max(MIN_CHOSEN_SENTENCES, MAX_SENTENCES // len(texts))
    chosen = {}
    for name, text in texts.items():
        every, lines = list(islice(split_sentences(text), MAX_SENTENCES_READ)), text.split("\n")
        index = PassageIndex(Passage("", _find_heading(each, lines), each.text) for each in every)
        found = {hit.passage.text for hit in index.search(query, share)}
        near = [each for each in every if each.text in found]
        chosen[name] = near if len(near) >= MIN_CHOSEN_SENTENCES else every[:share]
    return chosen


def _find_heading(sentence: Sentence, lines: Sequence[str]) -> str:
    above = (lines[number] for number in range(sentence.line - 2, -1, -1))
    return next((line for line in above if line.startswith("#")), "")
