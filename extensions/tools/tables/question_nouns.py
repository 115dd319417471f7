"""Take nouns that a table does not have for its rows, or for a column.

A table hardly ever says what its rows are: "how many patients" is asked of a table without the
word. Each noun that is taken so is named in the answer.
"""

from collections.abc import Sequence
from typing import Final

from extensions.tools.sql.table_profile import Profile
from extensions.tools.tables.formatting import split_unit
from extensions.tools.tables.question_roles import QuestionRoles
from extensions.tools.tables.question_words import (
    BUCKETS,
    GRAMMAR,
    LISTS,
    is_identifier,
    split_name,
)
from nodes.text.similarity import find_near_name
from nodes.text.units import UNITS

_ARTICLES: Final = ("of", "the", "all", "der", "alle")


def name_rows(roles: QuestionRoles, at: int) -> None:
    """Take an unknown noun after "how many", or "the most", for what the rows are.

    Not where they may be something else, nor for a condition that fits one row alone.
    """
    found, profile = roles.found, roles.profile
    while roles.word(at) in _ARTICLES or roles.role(at) in ("cell", "condition", "title"):
        at += 1
    is_after_noun = roles.role(at - 1) == "cell" and _is_plural_cell(roles, at - 1)
    is_compared = roles.role(at + 1) == "condition"  # how many cost less than 5 EUR
    if is_compared and find_near_name(roles.word(at), list_plain_names(profile)) is not None:
        return
    if is_after_noun or not _is_open_noun(roles, at):
        return  # how many women said so
    is_one_row = any(each.column in profile.identities for each in found.conditions)
    is_ranked = bool({"most", "least"} & roles.operations.keys())
    is_measured = is_ranked and profile.numbers and not profile.identities
    is_row = profile.has_rows_of(roles.word(at)) and not (is_one_row or is_measured)
    if is_row or profile.frequency:
        near = find_near_name(roles.word(at), profile.title)
        is_known = roles.word(at) in LISTS["people"] and any(map(_names_people, profile.labels))
        found.is_guess = not (profile.frequency or is_known) and near is None
        _take(roles, [at], profile.frequency)


def list_plain_names(profile: Profile) -> list[str]:
    """Return the names of the columns in words, without their units."""
    return [" ".join(split_name(split_unit(name)[0])) or name for name in profile.columns]


def name_unit(roles: QuestionRoles, at: int) -> None:
    """Take an unknown noun for what a column counts that is named after someone or a cause.

    As in "how many votes did Smith get", and "how many deaths from wounds".
    """
    measure = roles.found.measure
    names = [n for n, token in enumerate(roles.tokens) if token.word == measure.lower()]
    is_named = any(
        (n > 0 and roles.tokens[n].text[:1].isupper())
        or (n > at and roles.word(n - 1) in LISTS["sources"])
        for n in names
    )
    if is_named and _is_open_noun(roles, at):
        _take(roles, [at], measure)


def name_ranked(roles: QuestionRoles) -> None:
    """Take an unknown noun after "which" or "top 3" for the column that names the rows."""
    found, profile = roles.found, roles.profile
    if found.group or found.bucket or found.is_share:
        return
    people = [name for name in profile.labels if _names_people(name)]
    if found.order and len(people) == 1 and roles.word(0) in ("who", "wer"):
        found.group = people[0]
        return
    asked = [at for at in range(len(roles.tokens)) if roles.word(at - 1) in LISTS["which"]]
    named = [name for name in profile.identities if {*split_name(name)} <= LISTS["row names"]]
    if found.order and len(named) == 1 and asked and _is_open_noun(roles, asked[0]):
        found.group = named[0]
        _take(roles, asked[:1], named[0])
        return
    nouns = _list_listed_nouns(roles)
    labels = [name for name in profile.labels if profile.distinct[name] > 1]
    counts = {profile.distinct[name] for name in labels} - {profile.rows}
    if nouns and labels and found.measure and len(counts) < 2 and not found.thing:
        found.group = labels[0]
        _take(roles, nouns, labels[0])
    elif len(nouns) == 1 and found.order and profile.has_rows_of(roles.word(nouns[0])):
        _take(roles, nouns, "")


def _names_people(name: str) -> bool:
    return bool({*split_name(name)} & LISTS["row names"]) and not is_identifier(name)


def _list_listed_nouns(roles: QuestionRoles) -> list[int]:
    """Return the places of the open nouns after "top 3" or "compare"."""
    places = range(len(roles.tokens))
    starts = [
        at
        for at in places
        if roles.word(at - 1) == "compare"
        or (roles.found.limit > 1 and roles.word(at - 2) == "top")
    ]
    nouns = list[int]()
    for at in places[starts[-1] :] if starts else ():
        token = roles.tokens[at]
        is_end = token.role or not token.text.islower() or is_idiom(roles, at)
        if is_end or (nouns and token.word in GRAMMAR):
            break
        nouns += [] if token.word in GRAMMAR else [at]
    return nouns


def is_idiom(roles: QuestionRoles, at: int) -> bool:
    """Return whether a word that names nothing is said twice, as in "side by side"."""
    near = [(roles.word(at + step), roles.word(at + 2 * step)) for step in (-1, 1)]
    return ("by", roles.word(at)) in near


def _is_plural_cell(roles: QuestionRoles, at: int) -> bool:
    """Return whether a word of a condition is another form than the cell, such as "women"."""
    return not any(roles.word(at) in each.words.lower().split() for each in roles.found.conditions)


def _is_open_noun(roles: QuestionRoles, at: int) -> bool:
    """Return whether a word without a role is a common noun; in German it has a capital."""
    known = GRAMMAR | BUCKETS.keys() | UNITS.keys()
    if at >= len(roles.tokens) or roles.role(at) or roles.word(at) in known:
        return False
    text, is_german = roles.tokens[at].text, any(t.word in LISTS["german"] for t in roles.tokens)
    is_noun = text[:1].isupper() if is_german else text.islower() and not text.endswith("ed")
    return text.isalpha() and is_noun


def _take(roles: QuestionRoles, places: Sequence[int], column: str) -> None:
    if roles.found.thing:
        return  # that two nouns are meant otherwise is too much to take for granted
    roles.found.thing = " ".join(roles.tokens[at].text for at in places)
    roles.found.thing_column = column
    for at in places:
        roles.tokens[at].role = "thing"
