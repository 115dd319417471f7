"""Read named columns as states of the rows: yes or no, filled or empty."""

from typing import Final

from extensions.tools.sql.table_profile import write_filled
from extensions.tools.tables.question_numbers import ComparedWords
from extensions.tools.tables.question_words import LISTS, is_same_word, split_name
from extensions.tools.tables.reading import Condition

_ARTICLES: Final = ("a", "an", "any", "ein", "eine", "einen")
_DENIALS: Final = ("not", "none")
_BETWEEN: Final = LISTS["so far"] | {"been"}
"""Before a state: are still on loan, have not yet been returned."""


def read_states(words: ComparedWords) -> None:
    """Read named columns as conditions on rows where the words say what the rows are or have."""
    for at, name in list(words.columns):
        if condition := _read_yes(words, at, name) or _read_filled(words, at, name):
            words.columns.remove((at, name))
            words.found.conditions.append(condition)


def _read_yes(words: ComparedWords, at: int, name: str) -> Condition | None:
    """Return the condition of a column of yes and no."""
    yes = words.profile.answers.get(name)
    if not yes:
        return None
    negated = words.take_negation(at, 2) or _take_due(words, at)
    if "in" in split_name(name) and (words.word(at - 2), words.word(at - 1)) == ("out", "of"):
        words.take([at - 2, at - 1], "condition")
        negated = not negated  # out of service, of in_service
    sign, cell = "≠" if negated else "=", yes.rpartition("= ")[2].strip("'")
    said = f"= {'no' if negated else 'yes'}" if cell == "true" else f"{sign} {cell}"
    sql = f"NOT ({yes})" * negated or yes
    return Condition(name, sql, f"{name} {said}", at, is_value=False)


def _read_filled(words: ComparedWords, at: int, name: str) -> Condition | None:
    """Return the condition that a column has a value, or none: is on loan, has no fault."""
    filled = write_filled(name)
    is_due = name in words.profile.partly_empty and _take_due(words, at)
    if is_due or _is_said_empty(words, at, name):
        return Condition(name, f"NOT ({filled})", f"{name} is empty", at, is_value=False)
    has_cell = any(each.column == name for each in words.found.conditions)
    is_number = name in words.profile.numbers and _has_article(words, at)
    is_state = name in words.profile.partly_empty and says_state(words, at)
    if not has_cell and (is_state or is_number):
        filled += f" AND {words.profile.read(name)} <> 0" * is_number
        said = f"{name} is not empty"
        return Condition(name, filled, said, at, is_value=False, is_shown=True)
    return None


def _has_article(words: ComparedWords, at: int) -> bool:
    """Return whether something is said to have one, as in "have a locker"."""
    return words.word(at - 1) in _ARTICLES and words.word(at - 2) in LISTS["having"]


def _take_due(words: ComparedWords, at: int) -> bool:
    """Return whether it is said that something is yet to be so: needs to be tested, have to pay."""
    start = at - 1 - (words.word(at - 1) == "be")
    if words.word(start) != "to" or words.word(start - 1) not in LISTS["due"]:
        return False
    words.take(range(start - 1, at), "condition")
    return True


def _is_said_empty(words: ComparedWords, at: int, name: str) -> bool:
    """Return whether a column is said to be without a value; "not sent" is no date either."""
    while words.word(at - 1) in _BETWEEN:
        at -= 1
    if name in words.profile.labels:  # who did not borrow one is no loan without a borrower
        is_of_who = words.word(0) in ("who", "wer") and words.operation(at - 1) != "none"
        return not is_of_who and words.take_negation(at, 2)
    is_bare = name in words.profile.partly_empty or any(
        words.operation(n) == "none" or words.word(n) in ("without", "ohne")
        for n in (at - 1, at - 2)
    )
    is_of_cell = words.word(at + 1) in LISTS["prepositions"] and words.role(at + 2) == "cell"
    is_time = name in words.profile.time_columns
    return is_time and is_bare and not is_of_cell and words.take_negation(at, 2)


def says_state(words: ComparedWords, at: int) -> bool:
    """Return whether what a column's word says is what something is or has: are on loan."""
    after = words.word(at + 1)
    if any(is_same_word(after, part) for part in words.profile.title if after):
        return True  # paused customers, of customers.csv
    is_of_noun = words.word(at) in LISTS["prepositions"]
    while words.word(at - 1) in (*_BETWEEN, *_ARTICLES) or words.operation(at - 1) in _DENIALS:
        at -= 1
    is_verb = words.word(at - 1) in LISTS["having"] | LISTS["being"]
    subject = words.word(at - 1 - is_verb)
    is_named = subject.isalpha() and subject not in LISTS["asking"] - {"who", "wer"}
    return (is_verb or is_of_noun) and is_named
