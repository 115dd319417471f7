"""Run several systems on one task at one endpoint, and write what each made of it.

    python -m tests.benchmarks.versus [--rounds 3] [--only waves ours] [--publish]

Each other system gets an environment of its own, which is made once, in `build/versus`.
"""

import argparse
import asyncio
import json
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.benchmarks.options import read_options
from tests.benchmarks.performance.page import publish_report
from tests.benchmarks.versus.cases import CASES, Seen, play
from tests.benchmarks.versus.contenders import SYSTEMS, Contender, SetUpFailed, make_contenders
from tests.benchmarks.versus.table import format_page
from tests.benchmarks.versus.work import SHAPES

NEEDS = "packages of the other systems"
PAGE = Path(__file__).parents[3] / "docs" / "versus.md"
CASE_SCALE, KILL_SCALE = 0.25, 1.5
"""Of the seconds in runs whose seconds are not measured; between a kill and the next report there
must be time."""

APART_S = 0.3
"""Between the beginnings of two systems in a round."""

Runs = dict[str, list[Seen]]


async def start_all(contenders: Sequence[Contender], skipped: list[str]) -> list[Contender]:
    """Start the processes, and return those that did."""
    started = await asyncio.gather(*(each.start() for each in contenders), return_exceptions=True)
    for error in started:
        if isinstance(error, SetUpFailed):
            skipped.append(str(error))
        elif error is not None:
            raise error
    return [each for each, error in zip(contenders, started, strict=True) if error is None]


async def play_after(seconds: float, *run: Any) -> Seen:
    """Wait, then make a run: systems that begin together would wait for each other's processor."""
    await asyncio.sleep(seconds)
    return await play(*run)


async def measure_shapes(
    contenders: Sequence[Contender], rounds: int, scale: float
) -> dict[str, Runs]:
    """Run each shape in each round, all systems beside each other, under the same load."""
    runs: dict[str, Runs] = {each.system.name: {} for each in contenders}
    await asyncio.gather(*(play(each, "plain", "warm", CASE_SCALE * scale) for each in contenders))
    for number in range(rounds):
        for shape in SHAPES:
            thread = f"{shape}-{number}"
            seen = await asyncio.gather(
                *(
                    play_after(n * APART_S, each, shape, thread, scale)
                    for n, each in enumerate(contenders)
                )
            )
            for each, one in zip(contenders, seen, strict=True):
                runs[each.system.name].setdefault(shape, []).append(one)
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return runs


async def try_cases(contender: Contender, runs: Runs, scale: float) -> None:
    """Run each case once, the kill last."""
    for case in ("plain", *CASES):
        seconds_scale = scale * (KILL_SCALE if case == "killed" else CASE_SCALE)
        runs[case] = [await play(contender, case, case, seconds_scale)]
    print(f"{contender.system.name}: all cases", file=sys.stderr, flush=True)


async def compare(
    contenders: Sequence[Contender], skipped: list[str], rounds: int, scale: float
) -> tuple[list[Contender], dict[str, Runs]]:
    """Start, measure and try all systems."""
    started = await start_all(contenders, skipped)
    try:
        runs = await measure_shapes(started, rounds, scale)
        await asyncio.gather(*(try_cases(each, runs[each.system.name], scale) for each in started))
    finally:
        await asyncio.gather(*(each.kill() for each in started))
    return started, runs


def main() -> None:
    """Print the page's figures, and write them and all runs into a folder."""
    names = [system.name for system in SYSTEMS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="of the runs that are timed")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="some systems")
    parser.add_argument("--scale", type=float, default=1.0, help="of all seconds")
    parser.add_argument("--out", type=Path, default=Path("build/versus"))
    parser.add_argument("--publish", action="store_true", help="write into docs/versus.md")
    options = read_options(parser, "rounds")
    out, skipped = options.out.resolve(), list[str]()
    shutil.rmtree(out / "runs", ignore_errors=True)
    chosen = [system for system in SYSTEMS if system.name in options.only]
    contenders = make_contenders(chosen, out / "environments", out / "runs", skipped)
    began_s = time.perf_counter()
    started, runs = asyncio.run(compare(contenders, skipped, options.rounds, options.scale))
    seconds = time.perf_counter() - began_s
    if not started:
        sys.exit("error: no system could be set up: " + "; ".join(skipped))
    page = format_page(started, runs, skipped, scale=options.scale, seconds=seconds)
    seen = {
        name: {case: [asdict(one) for one in some] for case, some in found.items()}
        for name, found in runs.items()
    }
    (out / "runs.json").write_text(json.dumps(seen, indent=1), "utf-8")
    (out / "table.md").write_text(page, "utf-8")
    print(page)
    if options.publish:
        publish_report(page, out / "none", page=PAGE)
    print(f"all runs: {out}", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
