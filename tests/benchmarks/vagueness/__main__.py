"""Print the errors of the vagueness check by half and by domain."""

import sys
from collections.abc import Iterable

from tests.benchmarks.vagueness.measure import (
    HALVES,
    Description,
    ErrorCounts,
    count_errors,
    read_descriptions,
)

ROW_FORMAT = "| {:<24} | {:>5} | {:>14} | {:>5} | {:>14} |\n"


def format_table(items: Iterable[Description]) -> str:
    """Draw the table of one half, domain by domain, in Markdown."""
    items = list(items)
    domains = sorted({item.domain for item in items})
    rows = [("all", count_errors(items))]
    rows += [
        (name, count_errors(item for item in items if item.domain == name)) for name in domains
    ]
    head = ROW_FORMAT.format("domain", "good", "false refusals", "vague", "misses")
    rule = "|" + "---|" * 5 + "\n"
    return head + rule + "".join(_format_row(name, counts) for name, counts in rows)


def _format_row(name: str, counts: ErrorCounts) -> str:
    refused = f"{counts.refused} ({counts.false_refusal_rate:.1%})"
    missed = f"{counts.missed} ({counts.miss_rate:.1%})"
    return ROW_FORMAT.format(name, counts.good, refused, counts.vague, missed)


if __name__ == "__main__":
    for half in HALVES:
        sys.stdout.write(f"\n{half}\n\n{format_table(read_descriptions(half))}")
