"""Print the errors of the vagueness check by half and by domain."""

import sys
from collections.abc import Iterable

from tests.benchmarks.vagueness.measure import HALVES, Description, Tally, descriptions, tally

ROW = "| {:<24} | {:>5} | {:>14} | {:>5} | {:>14} |\n"


def table(items: Iterable[Description]) -> str:
    """Draw the table of one half, domain by domain, in Markdown."""
    items = list(items)
    domains = sorted({item.domain for item in items})
    rows = [("all", tally(items))]
    rows += [(name, tally(item for item in items if item.domain == name)) for name in domains]
    head = ROW.format("domain", "good", "false refusals", "vague", "misses")
    rule = "|" + "---|" * 5 + "\n"
    return head + rule + "".join(_row(name, counts) for name, counts in rows)


def _row(name: str, counts: Tally) -> str:
    refused = f"{counts.refused} ({counts.false_refusals:.1%})"
    missed = f"{counts.missed} ({counts.misses:.1%})"
    return ROW.format(name, counts.good, refused, counts.vague, missed)


if __name__ == "__main__":
    for half in HALVES:
        sys.stdout.write(f"\n{half}\n\n{table(descriptions(half))}")
