"""Print the errors of the vagueness check by half and by domain, or its repairs of real plans."""

import asyncio
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from tests.benchmarks.options import read_options
from tests.benchmarks.vagueness.measure import (
    HALVES,
    Description,
    ErrorCounts,
    count_errors,
    read_descriptions,
)
from tests.benchmarks.vagueness.plans import PlanOutcome, ask_for_plans, read_plans

ROW_FORMAT = "| {:<24} | {:>5} | {:>14} | {:>5} | {:>14} |\n"
PLAN_ROW_FORMAT = "| {:<24} | {:>5} | {:>20} | {:>16} |\n"


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


def format_plan_table(outcomes: Iterable[PlanOutcome]) -> str:
    """Draw the table of published plans, source by source, in Markdown."""
    outcomes = list(outcomes)
    sources = sorted({outcome.source for outcome in outcomes})
    groups = [("all", outcomes)]
    groups += [(name, [each for each in outcomes if each.source == name]) for name in sources]
    head = PLAN_ROW_FORMAT.format("source", "plans", "sent back as vague", "refused for good")
    rule = "|" + "---|" * 4 + "\n"
    return head + rule + "".join(_format_plan_row(name, group) for name, group in groups)


def _format_row(name: str, counts: ErrorCounts) -> str:
    refused = f"{counts.refused} ({counts.false_refusal_rate:.1%})"
    missed = f"{counts.missed} ({counts.miss_rate:.1%})"
    return ROW_FORMAT.format(name, counts.good, refused, counts.vague, missed)


def _format_plan_row(name: str, group: list[PlanOutcome]) -> str:
    sent_back = sum(bool(outcome.vague_tasks) for outcome in group)
    refused = sum(outcome.is_refused for outcome in group)
    cells = [f"{count} ({count / len(group):.1%})" for count in (sent_back, refused)]
    return PLAN_ROW_FORMAT.format(name, len(group), *cells)


def _main() -> None:
    parser = ArgumentParser(prog="python -m tests.benchmarks.vagueness", description=__doc__)
    parser.add_argument("--plans", type=Path, help="JSONL with plans, or with one text a line")
    options = read_options(parser)
    if options.plans:
        plans = islice(read_plans(options.plans), options.rows)
        sys.stdout.write(format_plan_table(asyncio.run(ask_for_plans(plans))))
        return
    for half in HALVES:
        table = format_table(read_descriptions(half, options.rows))
        sys.stdout.write(f"\n{half}\n\n{table}")


if __name__ == "__main__":
    _main()
