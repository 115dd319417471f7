"""Verbs of learning objectives: their Bloom level, and those that cannot be assessed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

from nodes.text.terms import list_base_forms

TAXONOMY = (
    "the revised Bloom taxonomy (Anderson and Krathwohl, A Taxonomy for Learning, Teaching, and "
    "Assessing, 2001)"
)
_WORDS: Final = yaml.safe_load(Path(__file__).with_name("bloom.yaml").read_text(encoding="utf-8"))
LEVELS: Final = tuple[str, ...](_WORDS["levels"])
EMPTY_VERBS: Final = frozenset(_WORDS["empty"].split())
"""Verbs with no meaning without the word behind them: be familiar, gain insight."""
_SPELLING_PAIRS = (("ise", "ize"), ("yse", "yze"), ("ising", "izing"), ("ises", "izes"))


def find_level(verb: str) -> str:
    """Return the level a verb usually has; empty if it is on no list."""
    return _look_up(verb, _LEVEL_BY_VERB)


def suggest_better_verbs(verb: str) -> str:
    """Return better verbs for one that cannot be assessed; empty if it can."""
    return _look_up(verb, _BETTER_BY_VAGUE_VERB)


def _look_up(verb: str, table: Mapping[str, str]) -> str:
    """Return what a table has for a verb, in any form and in both spellings."""
    word = verb.lower()
    forms = [word, *sorted(list_base_forms(word) - {word})]
    for one, other in _SPELLING_PAIRS:
        forms += [form.removesuffix(one) + other for form in forms if form.endswith(one)]
    return next((table[form] for form in forms if form in table), "")


def _invert(words: Mapping[str, str]) -> dict[str, str]:
    return {verb: key for key, verbs in words.items() for verb in verbs.split()}


_LEVEL_BY_VERB: Final = _invert(_WORDS["levels"])
_BETTER_BY_VAGUE_VERB: Final = _invert(_WORDS["vague"])
