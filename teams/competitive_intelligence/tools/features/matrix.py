"""Compare the features of products side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nodes.tools.evidence.source_check import CitedClaim

from .extraction import normalize_name, parse_claim

UNSTATED_VALUE: Final = "not stated"


@dataclass(frozen=True)
class FeatureMatrix:
    """Features by product; an empty cell means that no source states it."""

    products: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """The feature's name, then a value for each product; shared features first."""
    sources: tuple[tuple[str, str], ...]
    """Each product and the source of its features."""
    empty_cells: tuple[tuple[str, str], ...]
    """Product and feature of each empty cell."""
    conflicts: tuple[str, ...]
    """Features that one product states twice with different values."""


def build_matrix(claims: Sequence[CitedClaim]) -> FeatureMatrix:
    """Build the matrix from claims about products; other claims are skipped."""
    names: dict[str, str] = {}
    cells: dict[tuple[str, str], str] = {}
    sources: dict[tuple[str, str], None] = {}
    conflicts = []
    for claim in claims:
        found = parse_claim(claim.text)
        if found is None:
            continue
        product, feature, value = found
        key = (normalize_name(feature), product)
        names.setdefault(key[0], feature)
        sources[product, claim.source] = None
        if cells.setdefault(key, value) != value:
            conflicts.append(f"{product} states {feature} as {cells[key]!r} and as {value!r}")
    products = tuple(dict.fromkeys(product for _, product in cells))
    known = {name: sum((name, product) in cells for product in products) for name in names}
    order = sorted(names, key=lambda name: -known[name])
    return FeatureMatrix(
        products=products,
        rows=tuple(
            (names[name], *(cells.get((name, each), UNSTATED_VALUE) for each in products))
            for name in order
        ),
        sources=tuple(sources),
        empty_cells=tuple(
            (each, names[name]) for name in order for each in products if (name, each) not in cells
        ),
        conflicts=tuple(conflicts),
    )
