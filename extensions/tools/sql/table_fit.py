"""Read a question against one table, and say how well the table fits it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from extensions.tools.sql.table_arguments import Question, read_arguments
from extensions.tools.sql.table_cells import find_cells, list_kinds
from extensions.tools.sql.table_columns import Query
from extensions.tools.sql.table_profile import Profile
from extensions.tools.tables.formatting import split_unit
from extensions.tools.tables.question_amounts import list_only_of_kind
from extensions.tools.tables.question_nouns import list_plain_names
from extensions.tools.tables.question_reading import read_part
from extensions.tools.tables.question_words import (
    BUCKETS,
    LISTS,
    MONTHS,
    OPERATIONS,
    Token,
    is_opposite,
    is_same_word,
    list_lemmas,
    read_kind,
    read_superlative,
    split_question,
)
from extensions.tools.tables.reading import Reading
from nodes.errors import ToolRefused
from nodes.text.similarity import find_near_name
from nodes.text.units import UNITS

MAX_LACKING: Final = 4
"""Words that a table lacks, for each that it has, where the question is still about it."""
_OPERATING: Final = frozenset((*OPERATIONS, *BUCKETS, *MONTHS))


@dataclass
class Tried:
    """A table, with the question as it reads against it."""

    profile: Profile
    asked: Question
    reading: Reading
    score: int
    rows: str
    """The words of the question that say which rows it is about."""
    is_about: bool
    """Whether the table has enough words of the question to be named where it does not answer."""


def try_table(profile: Profile, asked: Question, query: Query) -> Tried:
    """Return how a table fits a question, with words that it lacks replaced by its own if any."""
    tried = _try_words(profile, asked, query)
    taken = _find_near_words(profile, asked.question, tried.reading.unread, query)
    if not taken:
        return tried
    question = asked.question
    for at, (token, column) in reversed([*enumerate(taken)]):
        is_again = any(column == each for _, each in taken[:at])
        is_compared = token.word in LISTS["above"] | LISTS["below"]
        said = f"{split_unit(column)[0]} {token.text}" if is_compared else column
        if direction := read_superlative(token.word):
            said = direction if is_again else f"{direction} {split_unit(column)[0]}"
        question = f"{question[: token.start]}{said}{question[token.end :]}"
    words = [(token.text, column) for token, column in taken]
    again = _try_words(profile, replace(asked, question=question), query, words)
    return again if len(again.reading.unread) < len(tried.reading.unread) else tried


def _find_meant(profile: Profile, word: str) -> str:
    """Return the column that alone has a word's kind of unit, or days of the week; else empty."""
    is_day = BUCKETS.get(word) == "day" and not profile.time_columns
    days = profile.when[:1] if is_day else []
    return list_only_of_kind(profile).get(read_kind(word)) or "".join(days)


def _find_near_words(
    profile: Profile, question: str, unread: Sequence[str], query: Query
) -> list[tuple[Token, str]]:
    """Return the unread words that mean much the same as one column, or as one cell of a label.

    None without the extra; a German noun is as likely a name, so it is compared with columns alone.
    """
    tokens, found = split_question(question), list[tuple[Token, str]]()
    is_german = any(token.word in LISTS["german"] for token in tokens)
    names = list_plain_names(profile)
    for token in tokens if unread else ():
        is_noun = token.text.isalpha() and (is_german or token.text.islower())
        is_noun = is_noun and len(token.text) > 1
        # The heaviest of all is not its weight, but the highest weight.
        is_superlative = bool(read_superlative(token.word))
        is_noun = is_noun and (is_superlative or not token.word.endswith("est"))
        parts = [part for name in names for part in name.split()]
        is_named = any(is_same_word(token.word, part) for part in parts)
        is_other = token.word in _OPERATING or token.word in UNITS or is_opposite(token.word, parts)
        if not is_noun or is_named or token.text not in unread:
            continue
        if column := _find_meant(profile, token.word):
            found.append((token, column))
        if column or is_other:
            continue
        cells = [] if is_german or is_superlative else list_kinds(profile, query)
        for texts, held in ((names, profile.columns), (list(map(str.lower, cells)), cells)):
            words = [token.word, *(list_lemmas(token.word) if is_superlative else ())]
            near = [at for word in words if (at := find_near_name(word, texts)) is not None]
            if near:
                found.append((token, held[near[0]]))
                break
    return found


def _try_words(
    profile: Profile, asked: Question, query: Query, taken: Sequence[tuple[str, str]] = ()
) -> Tried:
    tokens = split_question(asked.question)
    reading = read_part(profile, tokens, find_cells(profile, tokens, query))
    only = list_only_of_kind(profile).values()
    for word, column in taken:
        is_certain = column in only or column == _find_meant(profile, word.lower())
        (reading.meant if is_certain else reading.taken).append((word, column))
    _apply_arguments(reading, profile, asked, query)
    heard = [token.role for token in tokens]
    lacking = len(reading.unread) + len(reading.doubts) + len(reading.taken) + reading.is_guess
    named = sum(role in ("column", "cell") for role in heard)
    rows = " ".join(each.text for each in tokens if each.role in ("cell", "period", "condition"))
    named += heard.count("title")
    is_titled = any(is_same_word(each.word, part) for each in tokens for part in profile.title)
    score = 2 * named - 10 * lacking + is_titled
    is_about = len(reading.unread) <= MAX_LACKING * named
    return Tried(profile, asked, reading, score, rows, is_about)


def _apply_arguments(reading: Reading, profile: Profile, asked: Question, query: Query) -> None:
    """Replace what the words say with what typed arguments say."""
    try:
        read_arguments(reading, profile, asked, query)
    except ToolRefused as refusal:
        reading.doubt("refused", text=refusal)
    for text in (*asked.rows_with, *asked.where):
        tokens = split_question(text)
        found = read_part(profile, tokens, find_cells(profile, tokens, query))
        reading.unread += [text] if found.unread or not found.conditions else []
        reading.conditions += found.conditions
    if asked.share:
        reading.is_share = True
        reading.function = "sum" if reading.measure else "count"
        is_grouped = bool(reading.group or reading.bucket)
        reading.part = [each for each in reading.conditions if not each.part and not is_grouped]
        reading.conditions = [each for each in reading.conditions if each not in reading.part]
