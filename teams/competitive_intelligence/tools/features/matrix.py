"""Compare the features of products side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from nodes.tools.framework.argument_types import CitedClaim

from .extraction import normalize_name, parse_claim

UNSTATED_VALUE: Final = "not stated"


@dataclass
class FeatureMatrix:
    """Features by product; an empty cell means that no source states it."""

    products: list[str] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    """The feature's name, then a value for each product; shared features first."""
    sources: list[tuple[str, str]] = field(default_factory=list)
    """Each product and the source of its features."""
    conflicts: list[str] = field(default_factory=list)
    """Features that one product states twice with different values."""


def build_matrix(claims: Sequence[CitedClaim]) -> FeatureMatrix:
    """Build the matrix from claims about products; other claims are skipped."""
    made, names, values = FeatureMatrix(), dict[str, str](), dict[str, dict[str, str]]()
    for claim in claims:
        if (found := parse_claim(claim.text)) is None:
            continue
        product, feature, value = found
        key = normalize_name(feature)
        names.setdefault(key, feature)
        known = values.setdefault(key, {}).setdefault(product, value)
        if known != value:
            made.conflicts.append(f"{product} states {feature} as {known!r} and as {value!r}")
        made.sources.append((product, claim.source))
    made.sources = list(dict.fromkeys(made.sources))
    made.products = list(dict.fromkeys(product for product, _ in made.sources))
    for key, by_product in sorted(values.items(), key=lambda pair: -len(pair[1])):
        cells = (by_product.get(product, UNSTATED_VALUE) for product in made.products)
        made.rows.append((names[key], *cells))
    return made
