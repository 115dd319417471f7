"""Measure how long each regular expression of the code takes for texts made to slow it down.

    python -m tests.benchmarks.attacks [--shown 10]

Each attack has 100 kB. The time is the processor's, of a search through the whole text.
"""

import argparse

from nodes.limits.patterns import LIMIT_S
from tests.attacks import UNITS, slowest_attack
from tests.benchmarks.options import read_options
from tests.written_patterns import modules, patterns_of


def main() -> None:
    """Print the number of patterns and attacks, and the slowest patterns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shown", type=int, default=10, help="slowest patterns to print")
    options = read_options(parser)
    every = {(p.pattern, p.flags): (name, p) for name in modules() for p in patterns_of(name)}
    chosen = list(every.values())[: options.rows]
    found = [(*slowest_attack(pattern, UNITS), name, pattern) for name, pattern in chosen]
    found.sort(key=lambda each: -each[0])
    attacks = sum(each[2] for each in found)
    stopped = sum(each[0] >= LIMIT_S for each in found)
    print(f"{len(found)} patterns, {attacks:,} attacks of 100 kB, {stopped} patterns stopped")
    for seconds, start, _, name, pattern in found[: options.shown]:
        print(f"{seconds:5.2f} s  {start!r:20} {name}  {pattern.pattern[:60]!r}")


if __name__ == "__main__":
    main()
