"""Doubt what was chosen to compute where the words of a question ask for something else, too."""

from itertools import pairwise
from typing import Final

from extensions.tools.tables.question_roles import QuestionRoles
from extensions.tools.tables.question_words import LISTS, count_further_questions

_HOW_MUCH: Final = (("how", "much"), ("wie", "viel"))


def doubt_choice(roles: QuestionRoles) -> None:
    """Doubt a value where one of several things is asked for."""
    found, words = roles.found, [token.word for token in roles.tokens]
    is_grouped = found.group or found.bucket or found.others
    is_computed = found.function != "value" or found.change or found.is_share
    is_chosen = any(word in LISTS["which"] for word in words)
    found.parts += count_further_questions(words, is_ranked=bool(found.order))
    is_listing = found.function == "value" and not found.measure
    if found.parts > 1 and not is_listing:
        found.doubt("one_of_two")
    is_amount = any(pair in _HOW_MUCH for pair in pairwise(words))
    if is_amount and is_listing and not found.is_share:
        found.doubt("no_numbers")
        found.is_of_others = True
    is_of_all = not (found.conditions or is_grouped or found.order)
    after = [
        word for pair, word in zip(pairwise(words), words[2:], strict=False) if pair in _HOW_MUCH
    ]
    is_sum = found.function == "sum" and found.measure and "sum" not in roles.operations
    if is_sum and is_of_all and {*after} & LISTS["being"]:
        found.doubt("as_sum", name=found.measure)  # how much is the fee
    if "average" in roles.operations and found.function in ("count", "distinct"):
        found.doubt("and_average")
        found.is_of_others = True
    rows = roles.profile.identities
    is_of_row = any(each.is_value and each.column in rows for each in found.conditions)
    named = {name for _, name in roles.columns} | {*found.measures}
    if words[:1] in (["who"], ["wer"]) and named and named <= {*roles.profile.time_columns}:
        found.is_of_others |= is_of_row  # who inspected the hive is not in its row
    _doubt_selection(roles, words)
    if is_computed and (is_chosen or found.order) and not is_grouped:
        found.doubt("no_names")
        found.is_of_others |= bool(found.order)


def _doubt_selection(roles: QuestionRoles, words: list[str]) -> None:
    """Doubt the amounts of all where it is only asked which ones: who are behind with rent."""
    found = roles.found
    asking = [word for word in words if word in LISTS["asking"]]
    first = words[1:2] if words[:1] and words[0] in LISTS["prepositions"] else words[:1]
    is_which = len(asking) == 1 and bool({*first} & LISTS["which"])  # at which events
    is_chosen = found.order or found.conditions or found.others or found.change or found.bucket
    if is_which and found.measure and found.function == "value" and not is_chosen:
        found.doubt("no_choice")
        found.is_of_others = True
