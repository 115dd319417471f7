"""Read a question against one table, and say how well the table fits it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from extensions.tools.sql.table_arguments import Question, read_arguments
from extensions.tools.sql.table_cells import find_cell_by_first_word, find_cells, list_kinds
from extensions.tools.sql.table_columns import Query
from extensions.tools.sql.table_profile import Profile
from extensions.tools.tables.formatting import split_unit
from extensions.tools.tables.question_amounts import list_only_of_dimension
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
    read_dimension,
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


Taken = tuple[Token, str, bool]
"""A word that a table lacks, the column or cell that is read instead, and whether that is sure."""


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
    for at, (token, column, _) in reversed([*enumerate(taken)]):
        is_again = any(column == each for _, each, _ in taken[:at])
        is_compared = token.word in LISTS["above"] | LISTS["below"]
        said = f"{split_unit(column)[0]} {token.text}" if is_compared else column
        if direction := read_superlative(token.word):
            said = direction if is_again else f"{direction} {split_unit(column)[0]}"
        question = f"{question[: token.start]}{said}{question[token.end :]}"
    again = _try_words(profile, replace(asked, question=question), query, taken)
    return again if len(again.reading.unread) < len(tried.reading.unread) else tried


def _find_near_words(
    profile: Profile, question: str, unread: Sequence[str], query: Query
) -> list[Taken]:
    """Return the unread words that mean one column, or one cell of a label."""
    found = list[Taken]()
    for token in split_question(question) if unread else ():
        is_word = token.text in unread and token.text.isalpha() and len(token.text) > 1
        parts = [part for name in list_plain_names(profile) for part in name.split()]
        if not is_word or any(is_same_word(token.word, part) for part in parts):
            continue
        if certain := _find_meant(profile, token, query):
            found.append((token, certain, True))
        elif near := _find_near(profile, token, question, query):
            found.append((token, near, near in list_only_of_dimension(profile).values()))
    return found


def _find_meant(profile: Profile, token: Token, query: Query) -> str:
    """Return the column or cell that a word certainly means; empty for none.

    The only column with its kind of unit, or with days of the week, or the only cell that begins
    with a name.
    """
    is_day = BUCKETS.get(token.word) == "day" and not profile.time_columns
    if column := list_only_of_dimension(profile).get(read_dimension(token.word)):
        return column
    if is_day and profile.when:
        return profile.when[0]
    is_name = token.text[:1].isupper() and token.start > 0
    return find_cell_by_first_word(profile, token.text, query) if is_name else ""


def _find_near(profile: Profile, token: Token, question: str, query: Query) -> str:
    """Return the column or cell that means much the same as a word; empty for none.

    None without the extra; a German noun is as likely a name, so it is compared with columns alone.
    """
    is_german = any(each.word in LISTS["german"] for each in split_question(question))
    # The heaviest of all is not its weight, but the highest weight.
    is_superlative = bool(read_superlative(token.word))
    is_noun = is_german or token.text.islower()
    is_noun = is_noun and (is_superlative or not token.word.endswith("est"))
    names = list_plain_names(profile)
    parts = [part for name in names for part in name.split()]
    is_other = token.word in _OPERATING or token.word in UNITS or is_opposite(token.word, parts)
    if not is_noun or is_other:
        return ""
    has_no_cell = is_german or is_superlative or read_dimension(token.word)
    cells = [] if has_no_cell else list_kinds(profile, query)
    cells = [cell for cell in cells if cell.isalpha()]  # a word means no phrase
    for texts, held in ((names, profile.columns), (list(map(str.lower, cells)), cells)):
        words = [token.word, *(list_lemmas(token.word) if is_superlative else ())]
        near = [at for word in words if (at := find_near_name(word, texts)) is not None]
        if near:
            return held[near[0]]
    return ""


def _try_words(
    profile: Profile, asked: Question, query: Query, taken: Sequence[Taken] = ()
) -> Tried:
    tokens = split_question(asked.question)
    reading = read_part(profile, tokens, find_cells(profile, tokens, query))
    for token, name, is_certain in taken:
        is_used = reading.function not in ("count", "distinct") or reading.uses(name)
        pair = (token.text, name)
        (reading.meant if is_certain and is_used else reading.taken).append(pair)
        reading.is_of_others |= not is_used
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
