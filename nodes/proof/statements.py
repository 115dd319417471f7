"""What of a statement its grounds do not have: figures, periods, names, addresses, directions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from nodes.proof.grounds import Grounds
from nodes.proof.names import find_addresses, list_foreign_names
from nodes.proof.quotations import normalize_words
from nodes.proof.steps import list_spans, name_step
from nodes.proof.tables import explain_by_rows, find_wrong_direction
from nodes.proof.texts import Evidence
from nodes.text.dates import Period
from nodes.text.figures import FALLS, Figures, Quantity, count_year


def check_figures(text: str, figures: Figures, grounds: Grounds) -> tuple[list[str], str]:
    """Return the figures of a statement that its grounds do not have, and a step for the others.

    The direction of a change is checked where the ground is a table.
    """
    lacking = [each.text for each in figures.periods if not _has_period(grounds, each, text)]
    steps = list[str]()
    for quantity in figures.quantities:
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
    if period.is_within(grounds.periods):
        return True
    return period.is_bare_year and _explain(count_year(period), text, grounds)[0]


def _explain(quantity: Quantity, text: str, grounds: Grounds) -> tuple[bool, str]:
    """Return whether the grounds have a quantity, or it follows from them; and by which step."""
    if quantity.is_literal:
        return normalize_words(quantity.text) in grounds.normalized, ""
    if _is_among(quantity, text, grounds.numbers):
        return True, ""
    for ground in grounds.grounds:
        if ground.rows:
            found, step = explain_by_rows(quantity, text, ground.rows, ground.source)
            if found:
                return True, step
    if step := name_step(quantity, grounds.list_joined(), text):
        return True, step
    if quantity.unit == "months" and any(map(quantity.equals, list_spans(grounds.shown_periods))):
        return True, "difference"
    return grounds.has_said(quantity), ""


def _is_among(quantity: Quantity, text: str, numbers: Sequence[Quantity]) -> bool:
    """Return whether a quantity is among numbers; a loss may be written with or without a sign."""
    if any(quantity.equals(number) for number in numbers):
        return True
    return bool(FALLS.search(text)) and any(map(quantity.equals, _turn(numbers)))


def _turn(numbers: Iterable[Quantity]) -> Iterator[Quantity]:
    return (replace(each, values=tuple(-value for value in each.values)) for each in numbers)
