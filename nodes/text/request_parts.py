"""The parts of a request: its sentences, clauses and listed things, each in its own words."""

import re
from collections.abc import Callable, Sequence

from nodes.limits.patterns import Pattern
from nodes.text.similarity import extract_words
from nodes.text.terms import is_verb, list_base_forms
from nodes.text.word_lists import (
    AUXILIARY_VERBS,
    BACK_REFERENCES,
    CONDITION_WORDS,
    DETERMINERS,
    FUNCTION_WORDS,
    GERMAN_AUXILIARY_VERBS,
    GERMAN_CONDITION_WORDS,
    GERMAN_DETERMINERS,
    GERMAN_FUNCTION_WORDS,
    GERMAN_ORDERS,
    GERMAN_QUESTION_WORDS,
    INSPECTING_VERBS,
    MODAL_VERBS,
    NEGATIONS,
    PRECISE_VERBS,
    PRONOUN_REFERENCES,
    PRONOUNS,
    QUESTION_WORDS,
    WRITING_VERBS,
)

_BREAK = Pattern(
    r"(?P<end>(?<=[.!?;])(?-i:(?<!\b[A-Z]\.)(?<!\b[A-Z][a-z]\.))\s++|(?<!\n)\n++)"
    r"|(?<!\s)\s{0,4}+,\s++(?:(?:and|or|then|und|oder|dann)\s++)?"
    r"|(?<!\s)\s++(?:and|then|as\s{1,4}+well\s{1,4}+as|und|dann|sowie)\s++",
    re.IGNORECASE,
)
"""Not after an initial or a title, such as Dr. and St."""
_WORD = Pattern(r"[^\W_]+(?:'[^\W_]+)?")
_OPEN_PAIR = Pattern(r"\b(?:between|zwischen)\b(?!.*\s(?:and|und)\s)", re.IGNORECASE | re.DOTALL)
"""What names the first of two things that an "and" joins: between A."""
_WITHOUT_VERB = Pattern(
    r"(?:which|what|who|when|where)\s++(?:at|by|for|from|in|of|on|to)\b", re.IGNORECASE
)
"""A question that has its verb before it: "and which in May?"."""
_COUNTED = Pattern(r"(how many|wie viele)\s{1,4}(\w{1,40})", re.IGNORECASE)
_WHICH_ONES = Pattern(
    r"[?,]?\s{1,4}(?:(?:and|und)\s{1,4})?(?:which|who|(welche|wer))"
    r"(?:\s{1,4}(?:ones?|of them|(?:are|were) they|(?:sind|waren) (?:das|es)|(\w{1,40})))?"
    r"\s{0,4}\?{0,3}$",
    re.IGNORECASE,
)
"""At the end of a question for a number: how many hives swarmed, and which ones?"""
_CHANGING = Pattern(
    r"(?:(?:and|und)\s{1,4})?(?:(?:what|how)\s{1,4}about|(?:was|wie)\s{1,4}ist\s{1,4}(?:es\s{1,4})?mit)\b"
    r"|(?:and|und)(?:\s{1,4}(?:just|nur|only))?\b",
    re.IGNORECASE,
)
"""At the start of a question that changes the one before it: what about June?"""
MAX_CHANGE_WORDS, MAX_BARE_WORDS = 6, 2
MAX_TAIL_CHARS = 80
MAX_READ_CHARS = 4_000
"""Of a request; the rest belongs to its last part."""
MAX_PARTS = 24
RELATIVE_WORDS = ("where", "which", "who", "whose")
MIN_FRAGMENTS, MAX_FRAGMENT_WORDS = 3, 4
_OPENING = QUESTION_WORDS | GERMAN_QUESTION_WORDS
_ASKING = _OPENING | AUXILIARY_VERBS | GERMAN_AUXILIARY_VERBS
_PLACES = frozenset(("there", "dort"))
_TAIL_STARTS = frozenset(
    ["ab", "an", "bis", "by", "for", "from", "mit", "seit", "since", "to", "until", "with"]
)
"""Begin what is asked besides of what was named: and since when."""
_AT_END = ("that", "das")
"""Pronouns where a question ends: how much was that?"""
_AFTER_END = ("all", "altogether", "in", "insgesamt", "then", "together", "zusammen")
"""What may still follow them: how much is that in total?"""
_OF_OUTSIDE = _PLACES | {*_AT_END, "er", "he", "ihm", "ihn", "it", "these", "those"}
"""Pronouns that hardly mean a noun before them in their own question: how many does it have?"""
_RELATIVE = ("days", "that", "which", "who", "whose", "with", "without")
"""After "those" where it names nothing of before: those who paid, these days."""
_HAVING = ("has", "have", "had", "hat", "haben", "hatte", "hatten")
_VERBS = AUXILIARY_VERBS | GERMAN_AUXILIARY_VERBS | MODAL_VERBS
_TIMES = frozenset(("after", "before", "bevor", "nach", "nachdem", "vor"))
STATING_WORDS = (
    DETERMINERS | PRONOUNS | GERMAN_DETERMINERS | {"i", "we", "you", "he", "she", "there"}
)
"""Words that a statement begins with."""


def list_parts(
    request: str, rank_workers: Callable[[str], Sequence[str]], *, is_fine: bool = False
) -> list[str]:
    """Return the parts of a request in its own words and order; together they are all of it.

    A clause that begins with a verb or as a question is a part. So is a listed thing that some
    worker is for, after one that some worker is for, and what is listed after it. A statement
    belongs to what is before it, or at the start to what follows; so do names and anything else.

    Args:
        rank_workers: returns the workers that words are for, if any.
        is_fine: a named result, such as "and a summary of costs", and each of a list of fragments
            are parts whoever they are for.
    """
    cuts = [(0, 0)]
    is_list, has_fragments = False, is_fine and _has_fragments_only(request)
    breaks = list(_BREAK.finditer(request[:MAX_READ_CHARS]))
    ends = [*(each.start() for each in breaks[1:]), len(request)]
    for found, end in zip(breaks, ends, strict=False):
        piece, before = request[found.end() : end], request[cuts[-1][1] : found.start()]
        is_plain = not (found["end"] or found[0].startswith(","))
        if is_plain and (
            _OPEN_PAIR.search(before) or _WITHOUT_VERB.match(piece) or _continues(piece)
        ):
            continue
        if not extract_words(before) or not any(map(str.isalpha, "".join(extract_words(piece)))):
            continue
        is_statement = _read_first_word(piece) in STATING_WORDS
        is_clause = is_question(piece) or begins_with_verb(piece)
        is_clause = is_clause or (bool(found["end"]) and not is_statement)
        is_clause = is_clause and (not found[0].startswith(",") or not _is_subordinate(piece))
        is_listed = _begins_with_name(piece) and (
            is_list
            or has_fragments
            or (is_fine and _names_result(piece))
            or bool(rank_workers(before) and rank_workers(piece))
        )
        is_list = is_listed and not is_clause
        is_stated = _read_first_word(before) in STATING_WORDS and not rank_workers(before)
        if (is_clause or is_listed) and not is_stated and len(cuts) < MAX_PARTS:
            cuts.append((found.start(), found.end()))
    stops = [*(start for start, _ in cuts[1:]), len(request)]
    return [request[begin:stop].strip() for (_, begin), stop in zip(cuts, stops, strict=True)]


def list_asking_parts(text: str) -> list[str]:
    """Return the questions and orders of a text, each with what is stated before it.

    None if there are not several; what is stated at the end belongs to the last one.
    """
    if named := _split_off_names(text.strip()):
        return named
    parts, stated = list[str](), ""
    for part in list_parts(text, lambda _: ()):
        if parts and _is_tail(part):
            parts[-1] += f" {part}"
            continue
        joined = f"{stated} {part}".strip()
        begins = begins_with_verb(part) or _read_first_word(part) in _ASKING
        begins = begins or bool(parts and read_fragment(part))
        is_asking = begins or not _OPENING.isdisjoint(map(str.lower, _WORD.findall(part)))
        stated = "" if is_asking else joined
        parts += [joined] if is_asking else []
    if stated and parts:
        parts[-1] += f" {stated}"
    return parts if len(parts) > 1 else []


def _is_tail(part: str) -> bool:
    """Return whether a part only asks more of what the one before names: since when, to whom."""
    first, *others = [*map(str.lower, _WORD.findall(part[:MAX_TAIL_CHARS])), ""]
    is_grammar = all(word in _OPENING or word in FUNCTION_WORDS for word in filter(None, others))
    return first in _TAIL_STARTS and is_grammar and bool(others)


def _split_off_names(text: str) -> list[str]:
    """Return a question for a number, and one for the names of what it counts; else nothing."""
    counted, tail = _COUNTED.match(text), _WHICH_ONES.search(text[-MAX_TAIL_CHARS:])
    if not (counted and tail) or (tail[2] or counted[2]).lower() != counted[2].lower():
        return []
    number = text[: len(text) - len(tail[0])]
    names = f"{'Welche' if tail[1] else 'Which'}{number[counted.end(1) :]}"
    return [f"{number}?", f"{names}?"]


def find_pronoun(text: str) -> str:
    """Return the first word for something that was named before, other than "this"; else empty."""
    words = [word.lower() for word in _WORD.findall(text)]
    pairs = zip(words, [*words[1:], ""], strict=False)
    found = [word for word, after in pairs if word in PRONOUN_REFERENCES and after not in _RELATIVE]
    return next(iter([*found, *_list_places(words)]), "")


def _list_places(words: Sequence[str]) -> list[str]:
    pairs = zip(["", *words], words, strict=False)
    found = [word for before, word in pairs if word in _PLACES and before not in _ASKING]
    ends = zip(["", *words], words, [*words[1:], ""], strict=False)
    return found + [
        word
        for before, word, after in ends
        if word in _AT_END and (not after or (before in _VERBS and after in _AFTER_END))
    ]


def needs_earlier_request(text: str) -> bool:
    """Return whether a follow-up is about what an earlier request names: "And when was it sold?".

    A word such as "their" after a noun is taken to mean that noun.
    """
    first = (list_asking_parts(text) or [text])[0]
    is_bare = (
        points_back(first) and not find_pronoun(first) and len(first.split()) <= MAX_BARE_WORDS
    )
    if is_bare or read_fragment(first):
        return True
    word = find_pronoun(first)
    before = next((each.start() for each in _WORD.finditer(first) if each[0].lower() == word), 0)
    is_outside = word in _OF_OUTSIDE or first[:before].lower().endswith((" of ", " von "))
    return bool(word) and (is_outside or not extract_words(first[:before]))


def asks_number(text: str) -> bool:
    """Return whether a text asks how many of something there are."""
    return bool(_COUNTED.search(text))


def goes_on(text: str) -> bool:
    """Return whether a question begins with "and", so that it may be of what the last one names."""
    return _read_first_word(text) in ("and", "und")


def read_fragment(text: str) -> str:
    """Return what a question names that only changes the one before: "June" of "And in June?"."""
    if not (found := _CHANGING.match(text)):
        return ""
    rest = text[found.end() :].strip()
    words = [word.lower() for word in _WORD.findall(rest)]
    is_short = 0 < len(words) <= MAX_CHANGE_WORDS and _ASKING.isdisjoint(words)
    return rest if is_short and not begins_with_verb(rest) else ""


def list_degrees(text: str) -> set[str]:
    """Return the words that only ask how much, in lower case: long of "how long may it stay"."""
    words = [word.lower() for word in _WORD.findall(text)]
    spans = zip(words, words[1:], words[2:], strict=False)
    after = _VERBS | _TIMES
    return {word for asking, word, verb in spans if asking in ("how", "wie") and verb in after}


def points_back(part: str) -> bool:
    """Return whether a part names something of what is before it, as with "it"."""
    words = [word.lower() for word in _WORD.findall(part)]
    is_bare = 0 < len(words) <= MAX_BARE_WORDS and words[0] in _OPENING  # Which room?
    is_bare = is_bare and _VERBS.isdisjoint(words) and part.rstrip().endswith("?")
    return is_bare or not BACK_REFERENCES.isdisjoint(words) or bool(_list_places(words))


def is_question(part: str) -> bool:
    """Return whether a part begins or ends as a question does."""
    return part.rstrip().endswith("?") or _read_first_word(part) in _ASKING


def _continues(piece: str) -> bool:
    """Return whether a verb continues a question: "and are not insured", "and have a fine"."""
    first, second = (*map(str.lower, _WORD.findall(piece[:MAX_TAIL_CHARS])[:2]), "", "")[:2]
    is_denied = first.endswith("n't") or second in NEGATIONS
    has_object = first in _HAVING and second in DETERMINERS | GERMAN_DETERMINERS
    return first in _ASKING and (is_denied or has_object or second.endswith("ed"))


def asks_for_result(part: str) -> bool:
    """Return whether a part begins with a verb whose result can be looked up or computed."""
    return bool(list_base_forms(_read_first_word(part)) & PRECISE_VERBS)


def asks_for_text(part: str) -> bool:
    """Return whether a part begins with a verb that asks for a text."""
    return _read_first_word(part) in WRITING_VERBS


def begins_with_verb(piece: str) -> bool:
    """Return whether a part begins with a verb, as an order does."""
    word = _read_first_word(piece)
    is_inspecting = bool(list_base_forms(word) & INSPECTING_VERBS)
    return is_verb(word) or is_inspecting or word in GERMAN_ORDERS


def _has_fragments_only(request: str) -> bool:
    """Return whether a request is a list of short things without an order."""
    pieces = request[:MAX_READ_CHARS].split(", ")
    is_short = all(len(piece.split()) <= MAX_FRAGMENT_WORDS for piece in pieces)
    is_order = begins_with_verb(request) or _read_first_word(request) in STATING_WORDS | _ASKING
    return len(pieces) >= MIN_FRAGMENTS and is_short and not is_order


def _names_result(piece: str) -> bool:
    """Return whether words name a thing of their own that is wanted, such as "a brief analysis"."""
    return _read_first_word(piece) in ("a", "an") and len(extract_words(piece)) > 1


def _is_subordinate(piece: str) -> bool:
    word, rest = _read_first_word(piece), piece.split()[1:2]
    if rest and rest[0].lower() in QUESTION_WORDS:  # such as "by when"
        return False
    is_relative = word in RELATIVE_WORDS and not piece.rstrip().endswith("?")
    return is_relative or word in CONDITION_WORDS or word in GERMAN_CONDITION_WORDS


def _begins_with_name(piece: str) -> bool:
    """Return whether words begin with a common noun of their own, and not with a preposition."""
    word = _read_first_word(piece)
    is_function_word = word in FUNCTION_WORDS or word in GERMAN_FUNCTION_WORDS
    return piece[:1].islower() and (word in DETERMINERS or not is_function_word)


def _read_first_word(piece: str) -> str:
    first = _WORD.search(piece)
    return first.group().lower() if first else ""
