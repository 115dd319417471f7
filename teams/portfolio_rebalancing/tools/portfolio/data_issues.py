"""Report issues of the input files that a reader of the figures should know.

One finding per kind, however many places it names: similar findings would be merged.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from nodes.tools.tables.formatting import build_finding, join_names

from .holdings import Holdings, Position
from .prices import Prices

STALE_AFTER = timedelta(days=7)
VALUE_TOLERANCE = Decimal("0.01")
"""Difference between a value in the file and quantity times price from which it is reported."""


def find_data_issues(
    held: Holdings, prices: Prices, positions: Mapping[str, Position]
) -> Iterator[dict[str, Any]]:
    """Return findings on odd data that was used nevertheless."""
    latest = max(position.priced_on for position in positions.values())
    if differing := list(_find_differing_values(held, positions)):
        text = f"the value is not quantity times price, which is used: {join_names(differing)}"
        yield build_finding("medium", text, held.name)
    stale = [
        f"{name} (line {prices.lines[name, each.priced_on]}, {each.priced_on})"
        for name, each in positions.items()
        if latest - each.priced_on > STALE_AFTER
    ]
    if stale:
        text = f"last prices that are older than others, which are of {latest}: {join_names(stale)}"
        yield build_finding("medium", text, prices.name)
    jumps = [
        f"{name} (line {prices.lines[name, day]}) {change:+.0%} to {day}"
        for name, day, change in prices.find_jumps(positions)
    ]
    if jumps:
        text = f"changes that may be a split or a wrong price: {join_names(jumps)}"
        yield build_finding("medium", text, prices.name)
    if prices.repeated_count:
        text = (
            f"{prices.repeated_count} prices are listed twice with the same value; they count once"
        )
        yield build_finding("low", text, prices.name)


def _find_differing_values(held: Holdings, positions: Mapping[str, Position]) -> Iterator[str]:
    for name, holding in held.positions.items():
        if holding.quantity is not None and holding.value is not None:
            value = positions[name].value
            if abs(holding.value - value) > VALUE_TOLERANCE * max(value, Decimal(1)):
                yield f"{name} (line {holding.line}) {holding.value}, not {value:.2f}"
