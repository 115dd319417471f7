"""The content words of texts, and how similar texts are by words and by meaning.

Meanings count only where the extra `meaning` is installed.
"""

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path

# `Any`: the library is optional and has no types.
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.word_lists import FUNCTION_WORDS, STOP_WORDS

_WORD = Pattern(r"[^\W_]+(?:[.,'\u2019][^\W_]+)*")
_SIBILANTS = ("sse", "che", "she", "xe", "zze")
MIN_LIKENESS = 0.1
"""Of the words of two requests that are near."""
MIN_MEANING = 0.3
"""Of the meanings of two requests that are near: few foreign requests reach it."""
MIN_MEANING_OF_NAME = 0.35
MIN_LEAD = 0.2
"""Of a name that means much the same as a word, over the second. Of the words of 580 questions of
Spider (Yu et al. 2018) that name no column, 56 pass both, and the query has the column of 51."""
STEM_CHARS = 6
"""Words are cut to this length, so that "dismissed" and "dismissal" are one."""
MIN_ENDING_CHARS = 6
"""Of a word that may lose "ed" or "ing", so that "burned" and "burn" are one."""


def extract_words(text: str) -> list[str]:
    """Return the content words of a text, lower case and singular, in their order."""
    return [word for word, _ in pair_words(text)]


def pair_words(text: str) -> list[tuple[str, str]]:
    """Return the content words of a text, each in its basic form and as it is written."""
    written = [word for word in _WORD.findall(text) if word.lower() not in STOP_WORDS]
    pairs = [(_singularize(word.lower()), word) for word in written]
    return [pair for pair in pairs if pair[0] not in STOP_WORDS]


def extract_stems(text: str) -> set[str]:
    """Return the content words of a text, cut so that forms of one word are one."""
    found = extract_words(text.replace("_", " "))
    return {_stem_word(word) for word in found if word not in _IGNORED_WORDS and len(word) > 1}


def weigh_words(texts: Iterable[str]) -> dict[str, float]:
    """Return a weight for each word: the fewer texts contain it, the higher."""
    bags = [set(extract_words(text)) for text in texts]
    counts = Counter(word for bag in bags for word in bag)
    return {word: math.log(1 + len(bags) / count) for word, count in counts.items()}


def rank_by_similarity(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the index of each text and its similarity to a query, 0 to 1, the best first."""
    weights = weigh_words([query, *texts])
    asked = set(extract_words(query))
    ranked = []
    for index, text in enumerate(texts):
        union = asked | set(extract_words(text))
        total = math.fsum(weights[word] for word in union)
        common = math.fsum(weights[word] for word in asked & set(extract_words(text)))
        ranked.append((index, common / total if total else 0.0))
    return sorted(ranked, key=lambda pair: -pair[1])


def rank_examples(query: str, texts: Sequence[str]) -> list[tuple[int, bool]]:
    """Return the index of each text and whether it is near, the nearest by words and meaning first.

    Only words count where the extra `meaning` is not installed.
    """
    words, meanings = dict(rank_by_similarity(query, texts)), measure_meaning(query, texts)
    ranked = sorted(words, key=lambda index: -(words[index] + meanings[index]))
    return [(n, words[n] > MIN_LIKENESS or meanings[n] > MIN_MEANING) for n in ranked]


def _stem_word(word: str) -> str:
    if len(word) >= MIN_ENDING_CHARS:
        word = word.removesuffix("ed").removesuffix("ing")
    return word[:STEM_CHARS]


def _singularize(word: str) -> str:
    word = word.removesuffix("'s").removesuffix("\u2019s").replace(",", "")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    # Glass and glasses, cache and caches: with and without the last e they are one word.
    return word[:-1] if word.endswith(_SIBILANTS) and len(word) > 4 else word


_IGNORED_WORDS = FUNCTION_WORDS | frozenset(extract_words(" ".join(FUNCTION_WORDS)))
"""Also in the form left when taken for a plural: "doe" for "does"."""


MAX_COMPARED_CHARS = 4_000
"""Of each text."""


def is_meaning_available() -> bool:
    """Return whether the extra is installed."""
    return _load_model() is not None


def measure_meaning(query: str, texts: Sequence[str]) -> list[float]:
    """Return the similarity of each text to a query, 0 to 1; 0 for all without the extra."""
    if not texts or not is_meaning_available():
        return [0.0] * len(texts)
    wanted = _embed_text(query[:MAX_COMPARED_CHARS])
    vectors = [_embed_text(text[:MAX_COMPARED_CHARS]) for text in texts]
    return [max(0.0, float(wanted @ vector)) for vector in vectors]


def find_near_name(word: str, names: Sequence[str]) -> int | None:
    """Return the place of the name that alone means much the same as a word; None if none does."""
    likeness = measure_meaning(word, names)
    ranked = sorted(range(len(names)), key=likeness.__getitem__, reverse=True)
    best, second = ([likeness[at] for at in ranked[:2]] + [0.0, 0.0])[:2]
    return ranked[0] if best >= MIN_MEANING_OF_NAME and best - second >= MIN_LEAD else None


@lru_cache(maxsize=16_384)
def _embed_text(text: str) -> Any:
    (vector,) = _load_model().embed([text])
    # A text without a word has no length.
    return vector / ((vector @ vector) ** 0.5 or 1.0)


@cache
def _load_model() -> Any:
    """Return the model, whose weights come with the library; None without the extra."""
    try:
        with _keep_logging():
            library = import_module("wordllama")
    except ImportError:
        return None
    # The library looks for its own tokenizer in the wrong folder, but finds it as a cached one.
    folder = Path(str(library.__file__)).parent
    return library.WordLlama.load(cache_dir=folder, disable_download=True)


@contextmanager
def _keep_logging() -> Iterator[None]:
    """Restore the root logger, which the library changes when it is imported."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers
