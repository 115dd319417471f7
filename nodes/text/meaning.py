"""Compare texts by meaning, not by words, where the extra `meaning` is installed."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path

# `Any`: the library is optional and has no types.
from typing import Any

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
