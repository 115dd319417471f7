"""The program's own words in an answer, in each language that has a translation.

Machines read English: error codes, JSON keys, the lines of a terminal other than the answer.
"""

from collections.abc import Mapping
from typing import Final

from nodes.text.phrases.english import ENGLISH
from nodes.text.phrases.german import GERMAN

DEFAULT_LANGUAGE: Final = "en"
PHRASES: Final[Mapping[str, Mapping[str, str]]] = {"en": ENGLISH, "de": GERMAN}
"""By ISO 639-1 code: each phrase by its key, with the names of its values in braces."""


def say(language: str, key: str, **values: object) -> str:
    """Return a phrase with its values, in English where the language has no translation.

    Raises:
        KeyError: no phrase has the key, or a value of it is missing.
    """
    return PHRASES.get(language, ENGLISH).get(key, ENGLISH[key]).format(**values)
