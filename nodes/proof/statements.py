"""What of a statement its grounds do not have: figures, periods, names, addresses, directions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from nodes.proof.grounds import Grounds
from nodes.proof.names import find_addresses, list_foreign_names
from nodes.proof.passages import list_words
from nodes.proof.quotations import normalize_words
from nodes.proof.steps import list_spans, name_step
from nodes.proof.tables import explain_by_rows, find_wrong_direction
from nodes.proof.texts import Evidence
from nodes.text.dates import Period
from nodes.text.figures import FALLS, Figures, Quantity, count_year, read_figures, write_digits


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
