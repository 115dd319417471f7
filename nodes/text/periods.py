"""Names of periods whose order as texts is their order in time."""

from typing import Final

from nodes.limits.patterns import Pattern

SORTABLE_PERIOD: Final = Pattern(
    r"\d{4}(?:\D.*)?|\d{8}|\d{1,3}|[A-Za-z]{1,2}-?\d{1,2}|\d{1,2}:\d{2}.*"
)
"""2024, 2024-03-01, 2024-Q1, 7, Q1, W07, 12:30; not March, Q1 2024 or 31.12.2024."""
