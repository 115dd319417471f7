"""Finds the columns of numbers that a question means: by their names, else by forms and meaning.

A column that does not bear the question's own words is an assumption, which the report names.
"""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.models.embedded.text_similarity import extract_words
from nodes.text.meaning import measure_meaning
from nodes.text.word_forms import list_base_forms

SEPARATORS: Final = Pattern(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
MIN_PREFIX_CHARS: Final = 3
MIN_STEM_CHARS: Final = 4
MIN_SHARE_OF_BEST: Final = 0.65
"""Columns that share less with the task than the best one, by this factor, are not meant."""
MIN_MEANING: Final = 0.38
"""Of a column's name and the words it is taken for."""
MIN_MEANING_OF_BEST: Final = 0.9
MAX_FOCUS_WORDS: Final = 3
SHORT_YEAR_DIGITS: Final = 2
YEAR: Final = Pattern(r"(?:1[89]|20)\d\d")
_TOKEN: Final = Pattern(r"[^\W_]+(?:['\u2019][^\W_]+)?|[,;.?!]")
_COUNTING: Final = frozenset(
    ("most", "least", "fewest", "highest", "lowest", "average", "mean", "total")
)
"""Words that the measured thing follows: the most visitors."""
_LINKING: Final = frozenset(("many", "much", "by"))
_COMPARING: Final = _COUNTING.union(
    ("largest", "biggest", "smallest", "greatest", "best", "worst", "top", "maximum", "minimum"),
    _LINKING,
)
_PREPOSITIONS: Final = frozenset(
    ("of", "in", "for", "per", "across", "among", "with", "where", "that", "who", "which", "from")
).union(("on", "at", "to", "and", "or", "than"))
_LOOSE_WORDS: Final = frozenset(("often", "number", "amount", "frequently", "overall"))
"""Words beside a superlative that name nothing measured."""
COMPARING_WORDS: Final = _COMPARING | _LOOSE_WORDS
"""Words of a question that ask for a comparison, and name nothing."""
CHANGE_WORDS: Final = frozenset(
    ("grew", "grow", "grows", "grown", "growing", "growth", "increase", "increased", "rise")
).union(
    ("rose", "risen", "gain", "gained", "change", "changed", "fell", "fall", "fallen", "shrank"),
    ("shrunk", "shrink", "decline", "declined", "decrease", "decreased", "drop", "dropped"),
)
"""Words of a question that ask how something measured has changed, and do not name it."""
_UNMEASURED: Final = COMPARING_WORDS | CHANGE_WORDS | _PREPOSITIONS
_NOUNS_BY_FORM: Final = {
    "heavy light weigh": "weight mass",
    "cheap expensive costly dear": "price cost fee",
    "old young": "age",
    "tall": "height",
    "long short": "length duration minute",
    "fast quick slow": "speed",
    "large big small": "size area",
    "warm hot cold cool": "temperature",
    "deep shallow": "depth",
    "wide narrow": "width",
    "loud quiet noisy": "noise decibel",
    "strong weak": "strength",
    "rich poor wealthy": "wealth income",
    "far distant": "distance",
    "late": "delay",
    "dead deadly die died lethal": "death fatality",
    "won": "win victory",
    "lose lost": "loss defeat",
    "sell sold": "sale",
    "spend spent": "spending expense",
    "pay paid": "payment pay",
    "grew grown": "growth",
    "drunk drank": "drink",
    "flew flown": "flight",
    "born": "birth",
}
"""What adjectives measure, and the nouns of irregular verbs."""
_CURRENCIES: Final = frozenset(("eur", "usd", "gbp", "chf", "jpy"))
_UNITS: Final = {
    "eur": "euro",
    "usd": "dollar",
    "gbp": "pound",
    "chf": "franc",
    "jpy": "yen",
    "kg": "kilogram",
    "g": "gram",
    "t": "tonne",
    "l": "litre liter",
    "ml": "millilitre",
    "km": "kilometre kilometer",
    "m": "metre meter",
    "cm": "centimetre",
    "mm": "millimetre",
    "h": "hour",
    "min": "minute",
    "ms": "millisecond",
    "pct": "percent",
    "kwh": "",
    "mwh": "",
}
"""Units in names of columns, each with its words in full."""
_NOUNS: Final = {
    form: nouns.split() for forms, nouns in _NOUNS_BY_FORM.items() for form in forms.split()
}
_SUFFIX: Final = Pattern(
    r"(?:s|d|e|y|t|al|als|ed|er|ers|es|ies|ing|ings|ion|ions|ity|ities|ive|ly|ment|ments|ness|or"
    r"|ors|ous|able|ible|ful|an[ct]e?s?|en[ct]e?s?|ation|ations|ition|ssions?|sions?|tions?"
    r"|ate|ated|ates)?"
)


@dataclass(frozen=True)
class ColumnMatch:
    """A column that a question means."""

    column: str
    taken_for: str = ""
    """The question's words that it was taken for; empty if they are in its name."""


@dataclass(frozen=True)
class _Focus:
    """The words beside a superlative, a mean or a total: what is measured."""

    words: tuple[str, ...]
    is_counting: bool
    is_after: bool
    """The words follow a superlative, a mean or a total, and no mere "by" or "how many"."""


def match_columns(columns: Iterable[str], text: str, other: Iterable[str]) -> list[ColumnMatch]:
    """Return the columns of numbers that a text means, the best first; none for a missing measure.

    Args:
        columns: names of columns of numbers.
        text: a question or task.
        other: names that no column of numbers may be taken for: of other columns, and cells.
    """
    unique = list(dict.fromkeys(columns))
    asked = set(extract_words(text))
    known = {word for name in other for word in split_name(name)}
    foci = _list_foci(text, known)
    nouns = _list_nouns(text, asked, foci)
    focused = {word for focus in foci[:1] for word in extract_words(" ".join(focus.words))}
    named = [
        ColumnMatch(name, next((nouns[part] for part in split_name(name) if part in nouns), ""))
        for name in find_named(unique, f"{text} {' '.join(nouns)}", focused | nouns.keys())
    ]
    if any(_is_split(focus, unique) for focus in foci):
        return []
    measured = [focus for focus in foci if focus.is_counting] or ([] if named else foci)
    for focus in measured:
        words = {*extract_words(" ".join(focus.words)), *nouns}
        if any(words & set(split_name(match.column)) for match in named):
            break
        if assumed := _find_by_form(unique, focus.words) or _find_by_meaning(unique, focus.words):
            taken_for = " ".join(focus.words)
            assumed.sort(key=lambda name: -len(asked & set(split_name(name))))
            first = [ColumnMatch(name, taken_for) for name in assumed]
            return first + [match for match in named if match.column not in assumed]
    return named


def find_missing_measure(columns: Iterable[str], text: str, other: Iterable[str]) -> str:
    """Return the words for what is measured if no column of numbers is meant; else empty.

    The arguments are those of `match_columns`.
    """
    unique, known = list(columns), {word for name in other for word in split_name(name)}
    foci = _list_foci(text, known)
    if not foci or match_columns(unique, text, other):
        return ""
    phrases = [focus for focus in foci if _is_split(focus, unique)] or foci
    return " ".join(phrases[0].words)


def find_named(columns: Iterable[str], text: str, focused: Set[str] = frozenset()) -> list[str]:
    """Return the columns that share the rarest words with a text, the best first.

    A word may be abbreviated; the years of a name count only beside a word; words of what is
    measured count three times.
    """
    unique = list(dict.fromkeys(columns))
    asked = extract_words(text)
    counts = Counter(word for column in unique for word in set(split_name(column)))
    scores = {}
    for column in unique:
        points = {
            word: _score_name_word(word, column, asked)
            * (3 if word in focused else 1)
            / counts[word]
            for word in set(split_name(column))
        }
        is_named = any(points[word] for word in points if not word.isdigit())
        share = sum(map(bool, points.values())) / len(points) if points else 0.0
        scores[column] = sum(points.values()) * (0.5 + 0.5 * share) if is_named else 0.0
    best = max(scores.values(), default=0.0)
    named = [column for column in unique if best and scores[column] > MIN_SHARE_OF_BEST * best]
    return sorted(named, key=lambda column: -scores[column])


def list_measured_phrases(text: str) -> list[str]:
    """Return the words after each superlative, mean or total of a text, up to a preposition."""
    return [" ".join(focus.words) for focus in _list_foci(text, frozenset()) if focus.is_after]


def split_name(name: str) -> list[str]:
    """Return the words of a column's or table's name."""
    return extract_words(" ".join(SEPARATORS.split(name)))


def list_nouns_of(word: str) -> list[str]:
    """Return the nouns that an adjective measures, or an irregular verb does; often none."""
    return [noun for form in _list_forms(word) for noun in _NOUNS.get(form, ())]


def is_same_word(one: str, other: str) -> bool:
    """Return whether two words have one stem, or one abbreviates the other."""
    is_long = min(len(one), len(other)) >= MIN_PREFIX_CHARS
    return _has_same_stem(one, other) or (is_long and _is_prefix(one, other))


def _list_nouns(text: str, asked: Set[str], foci: Iterable[_Focus]) -> dict[str, str]:
    """Return what a text's adjectives measure and its irregular verbs do, each with its phrase."""
    found = dict[str, str]()
    for token in _TOKEN.findall(text):
        phrase = next((" ".join(each.words) for each in foci if token in each.words), token)
        for form in _list_forms(token.lower()):
            found |= {noun: phrase for noun in _NOUNS.get(form, ()) if noun not in asked}
    return found


def _list_foci(text: str, known: Set[str]) -> list[_Focus]:
    """Return the words after and those before each superlative, mean or total."""
    tokens = _TOKEN.findall(text)
    foci = []
    for index, token in enumerate(tokens):
        word = token.lower()
        if word in _COMPARING:
            after = _take_phrase(tokens[index + 1 :], known)
            before = _take_phrase(tokens[:index][::-1], known)[::-1]
            for words, is_after in ((after, word not in _LINKING), (before, False)):
                foci += [_Focus(words, word in _COUNTING, is_after)] if words else []
    return foci


def _take_phrase(tokens: Sequence[str], known: Set[str]) -> tuple[str, ...]:
    """Return the content words up to the end of a phrase."""
    taken = list[str]()
    for token in tokens:
        word = token.lower()
        if not token[0].isalnum() or (word in _PREPOSITIONS and taken):
            break
        if word in COMPARING_WORDS | CHANGE_WORDS | _PREPOSITIONS or known & set(
            extract_words(token)
        ):
            continue
        if extract_words(token):
            taken.append(token)
        if len(taken) == MAX_FOCUS_WORDS:
            break
    return tuple(taken)


def _is_split(focus: _Focus, columns: Iterable[str]) -> bool:
    """Return whether the words of a phrase are in names of columns, but no one name has them all.

    Market share is neither the market value nor the number of shares.
    """
    words = extract_words(" ".join(focus.words))
    names = [split_name(column) for column in columns]
    owners = [
        {n for n, name in enumerate(names) if any(is_same_word(word, part) for part in name)}
        for word in words
    ]
    return len(owners) > 1 and all(owners) and not set.intersection(*owners)


def _find_by_form(columns: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the columns with most words of the same stems."""
    wanted = extract_words(" ".join(words))
    counts = {
        name: sum(any(_has_same_stem(word, part) for part in split_name(name)) for word in wanted)
        for name in columns
    }
    best = max(counts.values(), default=0)
    return [name for name in columns if best and counts[name] == best]


def _find_by_meaning(columns: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the columns whose names mean the same; none without the extra `meaning`."""
    plain = [" ".join(SEPARATORS.split(name)).lower() for name in columns]
    phrases = dict.fromkeys([" ".join(words), *words])
    likeness = [
        max(each) for each in zip(*(measure_meaning(one, plain) for one in phrases), strict=True)
    ]
    best = max(likeness, default=0.0)
    least = max(MIN_MEANING, MIN_MEANING_OF_BEST * best)
    found = [
        (-value, name) for value, name in zip(likeness, columns, strict=True) if value >= least
    ]
    return [name for _, name in sorted(found, key=lambda pair: pair[0])]


def _has_same_stem(word: str, part: str) -> bool:
    pairs = zip(word, part, strict=False)
    stem = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    is_long = stem >= MIN_STEM_CHARS
    return is_long and all(_SUFFIX.fullmatch(each[stem:]) for each in (word, part))


def _list_forms(word: str) -> set[str]:
    return {*list_base_forms(word), _get_positive(word)}


def _get_positive(word: str) -> str:
    """Return the adjective of a superlative: heavy for heaviest."""
    if not word.endswith("est"):
        return word
    stem = word.removesuffix("est")
    stem = f"{stem[:-1]}y" if stem.endswith("i") else stem
    forms = (stem, f"{stem}e", stem[:-1])
    return next((form for form in forms if form in _NOUNS), word)


def _score_name_word(word: str, column: str, asked: Sequence[str]) -> float:
    """Return the score of a word of a name: of the word as it is, or of its unit in full.

    A name of units only, as `eur_per_kg`, measures what its first unit counts: money is a price.
    """
    names = {word, *_UNITS.get(word, "").split()}
    if word in _CURRENCIES and all(each in _UNITS for each in split_name(column)):
        names |= {"price", "cost", "fee"}
    return max(_score(name, asked) for name in names)


def _score(word: str, asked: Iterable[str]) -> float:
    """Return 1 for a word of the task, a half for one that the task abbreviates or spells out."""
    if word in asked:
        return 1.0
    if word.isdigit() and len(word) == SHORT_YEAR_DIGITS:
        return 1.0 if any(YEAR.fullmatch(other) and other.endswith(word) for other in asked) else 0
    near = (other for other in asked if min(len(word), len(other)) >= MIN_PREFIX_CHARS)
    return 0.5 if not word.isdigit() and any(_is_prefix(word, other) for other in near) else 0.0


def _is_prefix(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
