"""List the words of a question that nothing was made of; a figure without one may be wrong."""

from typing import Final

from extensions.tools.tables.question_amounts import OR
from extensions.tools.tables.question_nouns import is_idiom
from extensions.tools.tables.question_roles import QuestionRoles
from extensions.tools.tables.question_words import (
    GRAMMAR,
    LISTS,
    OPERATIONS,
    SIGNS,
    Token,
    is_foreign,
    is_german_grammar,
    is_opposite,
    split_name,
)

MAX_LEFT_OUT: Final = 1
"""Words; without more of them, and as many as are read, a figure is no answer to the question."""


def list_unread(roles: QuestionRoles) -> None:
    """Add the words that nothing was made of to what is unread, and note what they may change."""
    found, tokens = roles.found, roles.tokens
    words = [token.word for token in tokens]
    parts = [part for name in roles.profile.columns for part in split_name(name)]
    for before, token in zip([Token("", 0, 0), *tokens], tokens, strict=False):
        if not _is_unread(roles, before, token, words):
            continue
        found.unread.append(token.text)
        is_group = OPERATIONS.get(before.word) in ("per", "each")
        is_unit = before.role == "condition" and before.word[:1].isdigit()  # 25 hl
        found.is_of_others |= (
            is_group
            or is_unit
            or before.word in OR  # 4 or better
            or _is_restriction(roles, token)
            or token.word in LISTS["so far"]  # what they still owe
            or _is_counted(roles, token)
            or _is_name(roles, token)
            or is_opposite(token.word, parts)
            or OPERATIONS.get(token.word) in ("not", "none", "each")
            or token.word[:1].isdigit()
            or token.word in SIGNS
            or (before.role == "column" and token.word in LISTS["particles"])
            or token.word == "out"
        )
    _add_unused(roles)
    is_count = bool(found.unread) and found.function == "count"
    is_all = not (found.conditions or found.part)
    is_most = is_count and (bool(found.order) or is_all)
    is_plain = found.function == "value" and not (found.order or found.change or found.group)
    found.is_of_others |= bool(found.unread) and is_plain and is_all  # a list of all rows
    if is_all and found.function == "count":  # with a damage
        found.is_of_others |= any(doubt.kind == "only" for doubt in found.doubts)
    read = sum(token.role not in ("", "mark") for token in tokens)
    found.is_of_others |= is_most or MAX_LEFT_OUT < len(found.unread) >= read


def _add_unused(roles: QuestionRoles) -> None:
    """Add the names of columns that a figure was not made of, though they may choose its rows."""
    found, profile = roles.found, roles.profile
    if found.function == "value":
        return  # listed rows show them
    is_count = found.function in ("count", "distinct") and not found.is_share
    for at, name in roles.columns:
        is_label = is_count and name in profile.labels and not profile.differs_by_row(name)
        if (is_label or name in profile.partly_empty) and not found.uses(name):
            found.unread.append(roles.tokens[at].text)
            found.is_of_others = True


def _is_unread(roles: QuestionRoles, before: Token, token: Token, words: list[str]) -> bool:
    found = roles.found
    is_alone = token.word in LISTS["each alone"] and not (
        found.group or found.bucket or found.thing or found.divisor
    )
    if is_alone:  # how many hours did each work
        return True
    is_degree = before.word in ("how", "wie") and token.word in LISTS["degrees"]
    is_grouping = OPERATIONS.get(before.word) in ("per", "each") and token.word in LISTS["light"]
    parts = {part for name in roles.profile.columns for part in split_name(name)}
    is_particle = before.role == "column" and token.word in LISTS["particles"]
    is_particle |= token.word == "out" and "out" not in parts  # out of order
    is_compound = before.role == "cell" and token.word == "number"
    is_denial = roles.operation(roles.tokens.index(token)) in ("not", "none")
    is_content = is_grouping or is_particle or is_compound or is_denial
    is_content |= is_foreign(token.word, words)
    is_grammar = token.word in GRAMMAR or is_german_grammar(token.word)
    is_grammar = is_grammar and not is_content
    states = ("= no", "is empty", "is not empty")
    is_state = any("≠" in each.words or each.words.endswith(states) for each in found.conditions)
    is_grammar |= is_state and token.word in LISTS["so far"]  # not paid yet
    return not (token.role or is_grammar or is_degree or _is_scope(roles, token))


def _is_restriction(roles: QuestionRoles, token: Token) -> bool:
    """Return whether a word restricts the rows of a named column: the fee for new students."""
    at = before = roles.tokens.index(token)
    while before and (before == at or (roles.word(before) in GRAMMAR and not roles.role(before))):
        before -= 1
    between = {each.word for each in roles.tokens[before + 1 : at]}
    is_of_column = roles.role(before) in ("column", "title")
    return is_of_column and bool(between & LISTS["prepositions"])


def _is_counted(roles: QuestionRoles, token: Token) -> bool:
    """Return whether a word is in what is counted, or near it."""
    at, counted = roles.tokens.index(token), roles.find_counted()
    if counted is None or counted > at:
        return False
    return not any(each.word in GRAMMAR for each in roles.tokens[counted:at])


def _is_name(roles: QuestionRoles, token: Token) -> bool:
    """Return whether a word inside a question is a name; in German each noun has a capital."""
    is_german = any(each.word in LISTS["german"] for each in roles.tokens)
    return token.text[:1].isupper() and token is not roles.tokens[0] and not is_german


def _is_scope(roles: QuestionRoles, token: Token) -> bool:
    """Return whether a word only says what to do, over what, or what is shown at the top."""
    at = roles.tokens.index(token)
    is_order = at == 0 and roles.word(1) in ("the", "me", "us")
    is_top = token.word == "first" and roles.operation(at - 1) in ("highest", "lowest")
    is_over = token.word in ("over", "über") and not roles.word(at + 1)[:1].isdigit()
    is_event = token.word == "place" and roles.word(at - 1) in ("take", "takes", "took", "taken")
    is_known = is_top or is_over or is_event
    return is_order or is_known or roles.is_span(at) or is_idiom(roles, at)
