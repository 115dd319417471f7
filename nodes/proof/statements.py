"""What of a statement its grounds do not have: figures, periods, names, addresses, directions."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.proof.grounds import Grounds
from nodes.proof.passages import list_words
from nodes.proof.quotations import normalize_words
from nodes.proof.steps import list_spans, name_step
from nodes.proof.tables import explain_by_rows, find_wrong_direction
from nodes.proof.texts import Evidence, SourceText
from nodes.text.dates import MONTHS, Period
from nodes.text.figures import (
    FALLS,
    Figures,
    Quantity,
    count_year,
    is_number_word,
    is_unit,
    read_figures,
    write_digits,
)
from nodes.text.phrases import detect_language
from nodes.text.word_lists import DAYS, FUNCTION_WORDS, QUESTION_WORDS


def check_figures(text: str, figures: Figures, grounds: Grounds) -> tuple[list[str], str]:
    """Return the figures of a statement that its grounds do not have, and a step for the others.

    The direction of a change is checked where the ground is a table.
    """
    lacking = [each.text for each in figures.periods if not _has_period(grounds, each, text)]
    steps = list[str]()
    for quantity in figures.quantities:
        if quantity.is_word and not _contradicts(quantity, text, grounds):
            continue
        found, step = _explain(quantity, text, grounds)
        lacking += [] if found else [quantity.text]
        steps.append(step)
    for ground in grounds.grounds:
        if ground.rows and (wrong := find_wrong_direction(text, ground.rows, ground.source)):
            lacking.append(wrong)
    return list(dict.fromkeys(lacking)), next(filter(None, steps), "")


def list_foreign_words(text: str, grounds: Grounds, evidence: Evidence) -> Iterator[str]:
    """Yield the addresses of a statement that nothing read has, and names that its grounds lack."""
    known = [each.text for each in evidence.texts]
    for address in find_addresses(text):
        bare = address.rstrip("/")
        if not any(bare in held for held in known):
            yield address
    if grounds.grounds:
        yield from list_foreign_names(text, grounds.words, grounds.sources)


def _has_period(grounds: Grounds, period: Period, text: str) -> bool:
    """Return whether the grounds have a period; what looks like a year may be a number."""
    if grounds.names_column(period.text) or period.is_within(grounds.periods):
        return True
    if _is_shifted(period, grounds):
        return True
    return period.is_bare_year and _explain(count_year(period), text, grounds)[0]


def _is_shifted(period: Period, grounds: Grounds) -> bool:
    """Return whether a period is a length of time after or before one of the grounds."""
    spans = [round(each.value) for each in grounds.numbers if each.unit == "months"]
    shown = [each for each in grounds.shown_periods if each.year]
    ends = {
        12 * p.year + max(p.month, 1) - 1 + sign * n
        for p in shown
        for n in spans
        for sign in (1, -1)
    }
    return any(
        end // 12 == period.year and period.month in (0, end % 12 + 1) and not period.day
        for end in ends
    )


def _contradicts(quantity: Quantity, text: str, grounds: Grounds) -> bool:
    """Return whether a small number in words is another one in the grounds, of the same things.

    It counts what its writer chose, but where the word after it follows another number there.
    """
    numbers = [number for number in grounds.numbers if number.unit]
    if quantity.unit and any(_differs_in_unit(quantity, number) for number in numbers):
        return True
    noun = _find_noun(text, quantity)
    nouns = {
        _find_noun(each.text, number): None
        for each in grounds.grounds
        for number in read_figures(each.text).numbers
    }
    return bool(noun) and noun in nouns


def _differs_in_unit(one: Quantity, other: Quantity) -> bool:
    """Return whether two lengths of time have one number and another unit."""
    is_same = (
        other.unit in ("time", "months") and one.value / one.factor == other.value / other.factor
    )
    return is_same and (one.unit, one.factor) != (other.unit, other.factor)


def _find_noun(text: str, quantity: Quantity) -> str:
    """Return the stem of the word after a quantity, but not of its unit."""
    rest = write_digits(text)[quantity.start :].strip()
    words = list_words(rest[len(quantity.text.partition(" ")[0]) :][:60])
    return words[0] if words else ""


def _explain(quantity: Quantity, text: str, grounds: Grounds) -> tuple[bool, str]:
    """Return whether the grounds have a quantity, or it follows from them; and by which step."""
    if grounds.names_column(quantity.text):
        return True, ""
    if quantity.is_literal:
        return normalize_words(quantity.text) in grounds.normalized, ""
    if _is_among(quantity, text, grounds.numbers):
        return True, ""
    for ground in (each for each in grounds.grounds if each.rows):
        found, step = explain_by_rows(quantity, text, ground.rows, ground.source)
        if found:
            return True, step
    if step := name_step(quantity, grounds.list_joined(), text):
        return True, step
    spans = list_spans(grounds.shown_periods) if quantity.unit == "months" else ()
    return any(map(quantity.equals, spans)) or grounds.has_said(quantity), ""


def _is_among(quantity: Quantity, text: str, numbers: Sequence[Quantity]) -> bool:
    """Return whether a quantity is among numbers; a loss may be written with or without a sign."""
    if any(quantity.equals(number) for number in numbers):
        return True
    return bool(FALLS.search(text)) and any(map(quantity.equals, _turn(numbers)))


def _turn(numbers: Iterable[Quantity]) -> Iterator[Quantity]:
    return (replace(each, values=tuple(-value for value in each.values)) for each in numbers)


_TOKEN: Final = Pattern(r"[^\W_][\w'\u2019&-]*")
_SENTENCE: Final = Pattern(r"(?:^\s{0,6}|[.!?:]\s{1,6}|[\"\u201c(\[|]\s{0,6}|\n[-*\s]{0,6})$")
_ADDRESS: Final = Pattern(
    r"(?:https?://|www\.)[^\s<>\"'`)\]]{1,2000}(?<![.,;:*])"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
)
_LINKS: Final = Pattern(r"\s(?:to|of|the|a|an|in|on|for|by|with|that|if|zu|der|die|das|von)\b")
"""What follows a first word that is no name: according to, as the."""
MIN_ACRONYM_CHARS: Final = 2
MIN_ALIKE: Final = 0.6
_DEMONYM_ENDS: Final = ("ish", "ian", "ean", "ese", "an", "er", "isch", "ische", "ischen")


def find_addresses(text: str) -> list[str]:
    """Return the addresses of pages and mailboxes in a text."""
    return list(dict.fromkeys(_ADDRESS.findall(text)))


def list_foreign_names(
    text: str, around: str, sources: Sequence[SourceText], said: str = ""
) -> list[str]:
    """Return the names in a text that the words around its evidence do not have.

    A capitalized word is a name, at the beginning of a sentence only where no source has it in
    lower case, and a source has it as a name or `around` has a name in its place. In German, where
    each noun is capitalized, only an acronym and one of two such words side by side are.
    """
    text, is_german = _ADDRESS.sub(" ", text).replace("_", " "), detect_language(text) == "de"
    held = {
        _drop_genitive(token).casefold()
        for token in _TOKEN.findall(f"{around} {said}".replace("_", " "))
    }
    tokens = list(_TOKEN.finditer(text))
    claimed = {match[0].casefold() for match in tokens}
    foreign = list[str]()
    for at, match in enumerate(tokens):
        name = _drop_genitive(match[0])
        if not _is_capitalized(name) or _is_held(name, held, around):
            continue
        is_first = _begins_sentence(text, match.start())
        is_paired = not is_first and _has_neighbour(tokens, at, text)
        if is_german and not (is_paired or _is_acronym(name)):
            continue
        if is_first and _LINKS.match(text, match.end()):
            continue
        if not is_first or _is_name(
            name, sources, lacks_name=lambda: _replaces_name(text, around, claimed)
        ):
            foreign.append(name)
    return list(dict.fromkeys(foreign))


def _is_name(name: str, sources: Sequence[SourceText], lacks_name: Callable[[], bool]) -> bool:
    """Return whether a word at the beginning of a sentence is a name."""
    if any(name.casefold() in source.raw_words for source in sources):
        return False
    return any(name in source.raw_words for source in sources) or lacks_name()


def _replaces_name(text: str, around: str, claimed: set[str]) -> bool:
    """Return whether a text says the words of its evidence, but for a name of that."""
    words, held = list_words(text)[1:], {*list_words(around)}
    alike = sum(word in held for word in words) >= MIN_ALIKE * len(words)
    return alike and bool(words) and _lacks_name(around, claimed)


def _drop_genitive(name: str) -> str:
    return name.removesuffix("'s").removesuffix("\u2019s").rstrip("'\u2019-")


def _begins_sentence(text: str, start: int) -> bool:
    return bool(_SENTENCE.search(text[max(0, start - 6) : start]))


def _is_capitalized(name: str) -> bool:
    plain = name.casefold()
    if plain in FUNCTION_WORDS or plain in QUESTION_WORDS or plain in MONTHS or plain in DAYS:
        return False
    is_short = len(name) < MIN_ACRONYM_CHARS or is_unit(plain) or is_number_word(name)
    return name[:1].isupper() and not is_short and not any(each.isdigit() for each in name)


def _is_acronym(name: str) -> bool:
    return len(name) >= MIN_ACRONYM_CHARS and name.isupper()


def _has_neighbour(tokens: Sequence[re.Match[str]], at: int, text: str) -> bool:
    """Return whether a capitalized word follows or comes before, with a space between."""
    pairs = [(at - 1, at), (at, at + 1)]
    return any(
        left >= 0
        and right < len(tokens)
        and text[tokens[left].end() : tokens[right].start()] == " "
        and _is_capitalized(tokens[left if right == at else right][0])
        and not _begins_sentence(text, tokens[left].start())
        for left, right in pairs
    )


def _is_held(name: str, held: set[str], around: str) -> bool:
    plain = name.casefold()
    if plain in held:
        return True
    if len(plain) >= 4 and any(
        len(other) >= 4 and (other.startswith(plain) or plain.startswith(other)) for other in held
    ):
        return True
    if plain.endswith(_DEMONYM_ENDS) and any(
        other[:4] == plain[:4] for other in held if len(other) > 4
    ):
        return True  # Swedish, of Sweden
    parts = [part for part in plain.replace("&", "-").split("-") if part]
    if len(parts) > 1 and all(part in held for part in parts):
        return True
    return _is_acronym(name) and _has_initials(name, around)


def _has_initials(acronym: str, text: str) -> bool:
    words = [word for word in _TOKEN.findall(text) if word[:1].isupper()]
    initials = "".join(word[0] for word in words).casefold()
    return acronym.casefold() in initials


def _lacks_name(around: str, claimed: Iterable[str]) -> bool:
    """Return whether the evidence has a name, inside a sentence or of two words, not claimed."""
    known, words = set(claimed), around.casefold()
    for match in _TOKEN.finditer(around):
        plain = match[0].casefold()
        if not _is_capitalized(match[0]) or plain in known:
            continue
        if not _begins_sentence(around, match.start()) or plain not in words[match.end() :]:
            return True
    return False
