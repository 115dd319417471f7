"""`python -m tests.cluster [PART…]`: try what a cluster promises, and print one table.

A part is a module with `run_part(is_quick)`, which yields rows; its line in `PARTS` adds it.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Final

from tests.cluster.environment import ClusterUnavailable, find_python
from tests.cluster.table import Row, format_table

PARTS: Final = {
    "answers": "tests.cluster.same_answers",
    "takeover": "tests.cluster.takeover_part",
    "load": "tests.cluster.load",
}
Part = Callable[[bool], Iterable[Row]]


def main() -> int:
    """Run the parts that are asked for; return 1 if an experiment has failed, 0 else."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of: {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    given = parser.parse_args()
    if unknown := sorted(set(given.parts) - set(PARTS)):
        parser.error(f"no such part: {', '.join(unknown)}")
    try:
        find_python()
    except ClusterUnavailable as reason:
        sys.stdout.write(f"skipped: {reason}\n")
        return 0
    rows = [(name, row) for name in given.parts or PARTS for row in _run_part(name, given.quick)]
    sys.stdout.write(f"{format_table(rows)}\n")
    return 0 if all(row.is_right for _, row in rows) else 1


def _run_part(name: str, is_quick: bool) -> list[Row]:
    """Return the rows of a part; that of one that broke off is a failed row."""
    began_s = time.monotonic()
    run_part: Part = import_module(PARTS[name]).run_part
    rows: list[Row] = []
    try:
        for row in run_part(is_quick):
            rows.append(row)
            sys.stderr.write(f"{format_table([(name, row)]).splitlines()[-1]}\n")
    except Exception as error:  # the table must appear, with what the other parts have shown
        rows.append(Row("broke off", 1, 0, problem=f"{type(error).__name__}: {error}"[:300]))
    sys.stderr.write(f"--- {name}: {time.monotonic() - began_s:.0f} s\n")
    return rows


if __name__ == "__main__":
    sys.exit(main())
