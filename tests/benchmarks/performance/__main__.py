"""Measure how fast plans run, and write tables, a plot and all figures.

    python -m tests.benchmarks.performance [--quick] [--repeat 5] [--workflows PATH] [--publish]

Each variant has a process of its own, the endpoint too; in each round each variant runs once, in
random order. What cannot be measured here is named with the reason.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.benchmarks.options import read_options as read_benchmark_options
from tests.benchmarks.performance.contender import allow_many_files
from tests.benchmarks.performance.figures import summarize_rows
from tests.benchmarks.performance.page import publish_report
from tests.benchmarks.performance.plans import MADE_PLANS, make_plan
from tests.benchmarks.performance.plot import draw_plot
from tests.benchmarks.performance.rounds import Row, Trial, measure_trial
from tests.benchmarks.performance.tables import format_report
from tests.benchmarks.performance.variants import VARIANTS
from tests.benchmarks.performance.workflows import read_workflows

RUNS_AT_ONCE = (1, 10, 100)
QUICK_PLANS = ("fan-5", "cascade", "wide-10", "wide-100")
QUICK_VARIANTS = ("floor", "waves-memory", "ours-memory", "ours-sqlite")
WORKFLOW_VARIANTS = ("floor", "waves-memory", "ours-memory", "ours-sqlite")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.performance", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="a smoke run of two minutes")
    parser.add_argument("--repeat", type=int, help="rounds; 5, or 1 with --quick")
    parser.add_argument("--plans", nargs="*", help=f"{', '.join(MADE_PLANS)}, or other numbers")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, help="all without it")
    parser.add_argument("--runs", nargs="*", type=int, help="cascades at once; 1 10 100")
    parser.add_argument("--workflows", type=Path, help="a file or a folder of measured workflows")
    parser.add_argument("--workflow-seconds", type=float, default=2.0, help="of a critical path")
    parser.add_argument("--out", type=Path, default=Path("build/performance"))
    parser.add_argument("--publish", action="store_true", help="write into docs/performance.md")
    parser.add_argument("--seed", type=int, default=0, help="of the order of the variants")
    return read_benchmark_options(parser)


def list_trials(options: argparse.Namespace, variants: tuple[str, ...]) -> Iterator[Trial]:
    """List what is run, in order.

    Raises:
        ValueError: a plan or a file of workflows is none.
        OSError: the workflows cannot be read.
    """
    plans = options.plans
    if plans is None:
        plans = QUICK_PLANS if options.quick else MADE_PLANS
    for name in plans:
        yield Trial(name, make_plan(name), variants)
    counts = options.runs
    if counts is None:
        counts = (10,) if options.quick else RUNS_AT_ONCE
    for count in counts:
        if count > 1 or "cascade" not in plans:
            yield Trial("cascade", make_plan("cascade"), variants, runs=count)
    if options.workflows:
        found = read_workflows(options.workflows, critical_path_s=options.workflow_seconds)
        chosen = tuple(name for name in variants if name in WORKFLOW_VARIANTS)
        for name, scenario in found.items():
            yield Trial(name, scenario, chosen, is_workflow=True)


@contextmanager
def run_postgres(variants: tuple[str, ...], skipped: list[str]) -> Iterator[str]:
    """Run a server if a variant needs one; yields its address, or nothing and a reason."""
    with ExitStack() as stack:
        url = ""
        if any(name.endswith("postgres") for name in variants):
            try:
                from tests.postgres_server import run_query, run_server

                server = stack.enter_context(run_server())
                run_query(server.build_url(), "ALTER SYSTEM SET max_connections = 500")
                server.restart("fast")
                url = server.build_url()
            except Exception as error:  # whatever keeps a server from starting here
                skipped.append(f"PostgreSQL, as no server starts: {type(error).__name__}: {error}")
        yield url


def measure_all(trials: list[Trial], options: argparse.Namespace, url: str) -> list[Row]:
    """Measure the trials one after another; progress is on stderr."""
    rows, draw = list[Row](), random.Random(options.seed)
    for index, trial in enumerate(trials):
        began_s = time.perf_counter()
        with ExitStack() as stack:
            urls = list[str]()
            if url:
                from tests.postgres_server import create_schema

                users = [name for name in trial.variants if name.endswith("postgres")]
                urls = [stack.enter_context(create_schema(url)) for _ in users]
            measured = measure_trial(trial, repeat=options.repeat, draw=draw, postgres_urls=urls)
        rows += measured
        taken = f"{time.perf_counter() - began_s:.0f} s"
        label = f"{trial.plan}, {trial.runs} at once"
        print(f"{index + 1} of {len(trials)}: {label}: {taken}", file=sys.stderr, flush=True)
    return rows


def main() -> None:
    """Measure, print the tables, and write all into a folder."""
    options = read_options()
    options.repeat = options.repeat or (1 if options.quick else 5)
    allow_many_files()
    variants = tuple(options.variants or (QUICK_VARIANTS if options.quick else VARIANTS))
    variants = variants[: options.rows]
    skipped = [] if options.workflows else ["measured workflows, as --workflows names no file"]
    with run_postgres(variants, skipped) as url:
        if not url:
            variants = tuple(name for name in variants if not name.endswith("postgres"))
        try:
            trials = list(list_trials(options, variants))
            trials = trials[: options.rows and max(1, options.rows // len(variants))]
        except (OSError, ValueError) as error:
            sys.exit(f"error: {error}")
        rows = measure_all(trials, options, url)
    summaries = summarize_rows(rows)
    report = format_report(summaries, skipped, repeat=options.repeat)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "rows.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    (options.out / "figures.json").write_text(json.dumps(summaries, indent=1), encoding="utf-8")
    (options.out / "tables.md").write_text(report, encoding="utf-8")
    print(report)
    draw_plot(summaries, options.out / "performance.svg")
    if options.publish:
        publish_report(report, options.out / "performance.svg")
    print(f"figures, tables and plot: {options.out}", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
