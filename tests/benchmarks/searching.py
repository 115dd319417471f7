"""Measure how long a search over a folder takes: the first, one in another process, and the next.

    python -m tests.benchmarks.searching [--files 2000] [--kilobytes 25] [--repeat 3]

Each round is two processes, one after the other, over Markdown files of made-up words: the first
keeps its index in a folder that is empty before. It prints the best of the rounds in seconds, and
the memory of the processes at their ends.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from extensions.tools.search_documents import search_documents
from nodes.tools.framework.settings import ToolSettings
from tests.benchmarks.options import read_options

SYLLABLES = [first + second for first in "bdfgklmnprst" for second in "aeiou"]
QUERY = "When was version 1.2.3 of bacodu released?"
FILE = {"note.md": "# Note\n\nVersion 1.2.3 of bacodu was released on 2026-01-31."}


def write_folder(folder: Path, files: int, kilobytes: int) -> None:
    """Write Markdown files of sections, paragraphs and lists."""
    chance = random.Random(7)
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 5))) for _ in range(20_000)]
    for number in range(files):
        blocks, size = [f"# Document {number}"], 0
        while size < kilobytes * 1000:
            lines = [" ".join(chance.choices(words, k=10)) for _ in range(chance.randint(1, 8))]
            mark = chance.choice(("", "", "- ", "## "))
            blocks.append(
                f"\n{mark}".join(["", *lines]) if mark == "- " else mark + "\n".join(lines)
            )
            size += len(blocks[-1])
        (folder / f"{number:05}.md").write_text("\n\n".join(blocks))


async def measure_searches(folder: Path) -> dict[str, float]:
    """Search three times in this process: the index is built by the first."""
    tool = search_documents(ToolSettings(documents=folder))
    taken = {}
    for name, materials in (("first", {}), ("second", {}), ("with a file", FILE)):
        began = time.perf_counter()
        await tool.ainvoke({"query": QUERY, "materials": materials})
        taken[name] = time.perf_counter() - began
    taken["MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return taken


def run_round(command: Sequence[str]) -> list[dict[str, float]]:
    """Measure in a process that finds no index, and in one that finds the first one's."""
    with tempfile.TemporaryDirectory() as cache:
        given = {**os.environ, "XDG_CACHE_HOME": cache}
        return [
            json.loads(subprocess.run(command, capture_output=True, check=True, env=given).stdout)
            for _ in range(2)
        ]


def main() -> None:
    """Parse the arguments and measure, or be one round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--kilobytes", type=int, default=25)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="be one round, over this folder")
    options = read_options(parser, "files", "kilobytes")
    if options.folder:
        print(json.dumps(asyncio.run(measure_searches(options.folder))))
        return
    with tempfile.TemporaryDirectory() as folder:
        write_folder(Path(folder), options.files, options.kilobytes)
        command = [sys.executable, "-m", "tests.benchmarks.searching", "--folder", folder]
        rounds = [run_round(command) for _ in range(options.repeat)]
    new, again = (
        {name: min(each[name] for each in part) for name in part[0]}
        for part in zip(*rounds, strict=True)
    )
    print(
        f"{options.files} files of {options.kilobytes} kB: first search {new['first']:.1f} s, "
        f"in another process {again['first']:.2f} s, second {again['second']:.2f} s, "
        f"with a file {again['with a file']:.2f} s; {new['MB']:.0f} and {again['MB']:.0f} MB"
    )


if __name__ == "__main__":
    main()
