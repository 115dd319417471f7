"""Measure the five lenses at once against the slowest of them alone.

    python -m tests.benchmarks.code_review [--lines 2000] [--repeat 5]

The diff is made: of modules of the standard library, in which every twelfth line is new. A ratio of
1 means that a review takes as long as its slowest lens: in the same run, where it shares the
processors with the others, and alone. On a busy machine only processor times tell: what all lenses
use, over two processors, is at the least what a review takes there.
"""

import argparse
import asyncio
import difflib
import inspect
import resource
import tempfile
import textwrap
from pathlib import Path
from time import perf_counter
from types import ModuleType

import graph
from graph.settings import Settings
from nodes.tools.framework.settings import ToolSettings
from tests.shipped_tools import load_shipped_tools

LENSES = ("scan_security", "find_bugs", "find_slow_code", "check_style", "search_history")
MODULES: tuple[ModuleType, ...] = (textwrap, argparse, tempfile, difflib, asyncio.tasks, inspect)
LINES_PER_CHANGE = 12
"""Of so many lines of a module one is new."""


def make_diff(lines: int) -> str:
    """Make a diff of so many lines, of whole hunks."""
    hunks = list[str]()
    for module in MODULES * 20:
        new = inspect.getsource(module).splitlines(keepends=True)
        old = [line for number, line in enumerate(new) if number % LINES_PER_CHANGE]
        name = f"{module.__name__.replace('.', '/')}_{len(hunks)}.py"
        diff = "".join(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=3))
        head, *parts = diff.split("\n@@ ")
        hunks += [f"{head}\n@@ {parts[0]}\n", *(f"@@ {part}\n" for part in parts[1:])]
    text = ""
    while text.count("\n") < lines:
        text += hunks.pop(0).replace("\n\n", "\n")
    return text


async def time_lens(name: str, materials: dict[str, str]) -> tuple[float, float]:
    """Time one lens alone: by the clock, and by the processor."""
    (tool,) = load_shipped_tools([name], ToolSettings())
    began, used = perf_counter(), _get_processor_s()
    await tool.ainvoke({"materials": materials})
    return perf_counter() - began, _get_processor_s() - used


def _get_processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def time_team(materials: dict[str, str]) -> tuple[float, float]:
    """Time the whole team, and its slowest task."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(database_url=f"sqlite:///{Path(folder) / 'runs.sqlite'}")
        outcome = await graph.arun(
            "Review this change", team="code_review", materials=materials, settings=settings
        )
    assert outcome.status == "done", outcome.error
    slowest = max(report.ended_s - report.started_s for report in outcome.results.values())
    return float(outcome.timing["wall_s"]), slowest


async def main() -> None:
    """Print each lens, their sum, the team, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    materials, rounds = {"change.diff": make_diff(options.lines)}, range(options.repeat)
    alone = {name: min([await time_lens(name, materials) for _ in rounds]) for name in LENSES}
    team, slowest = min([await time_team(materials) for _ in rounds])
    clock, processor = zip(*alone.values(), strict=True)
    for name, (seconds, used) in alone.items():
        print(f"| {name}, alone | {seconds:.2f} s | processor {used:.2f} s |")
    print(f"| one after another | {sum(clock):.2f} s | processor {sum(processor):.2f} s |")
    print(f"| the team, planning and answer included | {team:.2f} s | |")
    print(f"| the team over its slowest lens in that run | {team / slowest:.2f} | |")
    print(f"| the team over its slowest lens alone | {team / max(clock):.2f} | |")
    bound = max(sum(processor) / 2, max(processor)) / max(processor)
    print(f"| least possible on two free processors | | {bound:.2f} |")


if __name__ == "__main__":
    asyncio.run(main())
